import { useState } from 'react';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import type { Tone } from '../parts/tone.ts';
import type { Finding } from './use-reading.ts';
import type { VariableDraft, VariableField } from './variable-draft.ts';

const STATES: Record<VariableField['state'], { tone: Tone; word: string; hint: string }> = {
  added: { tone: 'good', word: 'set', hint: 'Stored encrypted, and never shown again.' },
  changed: { tone: 'good', word: 'set again', hint: 'Replaces the current value.' },
  'carried over': { tone: 'off', word: 'carried over', hint: 'Keeps the current value.' },
  unset: { tone: 'warn', word: 'unset', hint: 'The definition uses it, and it has no value.' },
  unused: {
    tone: 'warn',
    word: 'unused',
    hint: 'It has a value, and the definition does not use it.',
  },
  removed: { tone: 'bad', word: 'removed', hint: 'The deploy removes its value.' },
};

/**
 * The variables with the effect of a deploy on each: a write-only field for what is asked or changed, and a line for a value
 * that stays.
 */
export function VariableFields({
  fields,
  draft,
  refusals = [],
  onChange,
}: {
  fields: VariableField[];
  draft: VariableDraft;
  /** The problems of the deploy. One that names a variable stands at its field. */
  refusals?: readonly Finding[];
  onChange(draft: VariableDraft): void;
}) {
  const { values, removed } = draft;
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  return fields.map(({ name, isRunning, state }) => {
    const { tone, word, hint } = STATES[state];
    const isRemoved = state === 'removed';
    const error = values[name] ? undefined : refusals.find((one) => isAbout(one, name))?.message;
    const stays = isRunning && !isRemoved && !values[name] && !error && !opened.has(name);
    const toggle = () =>
      onChange({
        values: { ...values, [name]: '' },
        removed: isRemoved ? removed.filter((one) => one !== name) : [...removed, name],
      });
    return (
      <div key={name} className="variable">
        {stays ? (
          <p className="variable-kept">
            <span className="mono">env.{name}</span> <span className="faint">{hint}</span>
          </p>
        ) : (
          <TextField
            ref={opened.has(name) ? focus : undefined}
            label={`env.${name}`}
            type="password"
            isMono
            autoComplete="new-password"
            readOnly={isRemoved}
            placeholder={isRunning && !isRemoved ? 'unchanged' : undefined}
            hint={hint}
            error={error}
            value={values[name] ?? ''}
            onChange={({ target }) =>
              onChange({ removed, values: { ...values, [name]: target.value } })
            }
          />
        )}
        <span className="variable-state">
          <Badge tone={tone}>{word}</Badge>
          {stays && (
            <Button look="quiet" onClick={() => setOpened(new Set([...opened, name]))}>
              Change…<span className="unseen"> {name}</span>
            </Button>
          )}
          {isRunning && (
            <Button look="quiet" onClick={toggle}>
              {isRemoved ? 'Keep' : 'Remove'}
              <span className="unseen"> {name}</span>
            </Button>
          )}
        </span>
      </div>
    );
  });
}

/** A field that "Change…" opened takes the focus of the button. */
function focus(field: HTMLInputElement | null): void {
  field?.focus();
}

/** Whether a refusal asks for the value of a variable. Its message begins with the name. */
function isAbout({ code, message }: Finding, name: string): boolean {
  return code === 'env-new-destination' && message.startsWith(`env.${name} `);
}
