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

/** One write-only field for each variable, with the effect of a deploy on it. */
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
  return fields.map(({ name, isRunning, state }) => {
    const { tone, word, hint } = STATES[state];
    const isRemoved = state === 'removed';
    const toggle = () =>
      onChange({
        values: { ...values, [name]: '' },
        removed: isRemoved ? removed.filter((one) => one !== name) : [...removed, name],
      });
    return (
      <div key={name} className="variable">
        <TextField
          label={`env.${name}`}
          type="password"
          isMono
          autoComplete="new-password"
          readOnly={isRemoved}
          placeholder={isRunning && !isRemoved ? 'unchanged' : undefined}
          hint={hint}
          error={values[name] ? undefined : refusals.find((one) => isAbout(one, name))?.message}
          value={values[name] ?? ''}
          onChange={({ target }) =>
            onChange({ removed, values: { ...values, [name]: target.value } })
          }
        />
        <span className="variable-state">
          <Badge tone={tone}>{word}</Badge>
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

/** Whether a refusal asks for the value of a variable. Its message begins with the name. */
function isAbout({ code, message }: Finding, name: string): boolean {
  return code === 'env-new-destination' && message.startsWith(`env.${name} `);
}
