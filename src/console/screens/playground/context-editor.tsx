import { useId, useRef } from 'react';
import { useDeployedFacts } from './use-deployed-facts.ts';
import type { Draft } from './use-draft.ts';

/** The `context` of the message, as JSON. Keeps invalid JSON as typed, and shows the line and column of the error. */
export function ContextEditor({
  deploymentId,
  draft: { context, reading, change },
}: {
  deploymentId: string | undefined;
  draft: Draft;
}) {
  const note = useId();
  const input = useRef<HTMLTextAreaElement>(null);
  const { value, fault } = reading;
  const { contextNames } = useDeployedFacts(deploymentId);
  const names = contextNames.filter((name) => !Object.hasOwn(value ?? {}, name));
  const add = (name: string) => {
    change({ context: JSON.stringify({ ...value, [name]: '' }, null, 2) });
    input.current?.focus();
  };
  return (
    <div className="context-editor">
      <textarea
        ref={input}
        className="input mono"
        aria-label="Context"
        aria-describedby={note}
        aria-invalid={fault ? true : undefined}
        rows={4}
        spellCheck={false}
        autoComplete="off"
        placeholder={'{\n  "plan": "pro"\n}'}
        value={context}
        onChange={({ target }) => change({ context: target.value })}
      />
      <div id={note} className="context-note" aria-live="polite">
        {fault ? (
          <ContextFaultNote
            fault={fault}
            onGo={(offset) => {
              input.current?.focus();
              input.current?.setSelectionRange(offset, offset + 1);
            }}
          />
        ) : (
          <span className="faint">
            An object that the model reads with this message. It is not stored in the history.
          </span>
        )}
        {!fault && names.length > 0 && (
          <span className="context-names">
            The definition reads{' '}
            {names.map((name) => (
              <button
                key={name}
                type="button"
                className="chip chip-button mono"
                aria-label={`Add ${name}`}
                onClick={() => add(name)}
              >
                {name}
              </button>
            ))}
          </span>
        )}
      </div>
    </div>
  );
}

function ContextFaultNote({
  fault: { message, place },
  onGo,
}: {
  fault: NonNullable<Draft['reading']['fault']>;
  onGo(offset: number): void;
}) {
  if (!place) return <span className="context-fault">{message}</span>;
  return (
    <button type="button" className="context-fault" onClick={() => onGo(place.offset)}>
      Line {place.line}, column {place.column}: {message}
    </button>
  );
}
