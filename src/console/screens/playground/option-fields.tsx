import { Button } from '../../parts/button.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { randomId } from '../../random-id.ts';
import { keyFault, MAX_KEY_LENGTH } from './idempotency-key.ts';
import type { Draft } from './use-draft.ts';
import type { Parameters } from './use-parameters.ts';

const KEY_HINT = 'The same request with the same key gets the first reply again, for 24 hours.';

/** How the reply arrives, what a busy session does, and what makes the request safe to repeat. */
export function OptionFields({
  draft,
  parameters: { isCompared, isStreamed, onBusy, hasTools },
  onChange,
}: {
  draft: Draft;
  parameters: Parameters;
  onChange(changes: Partial<Parameters>): void;
}) {
  const { idempotencyKey } = draft;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Enter in a field of the form would send the message
    <div
      className="option-fields"
      onKeyDown={(event) => {
        if (event.key === 'Enter' && event.target instanceof HTMLInputElement)
          event.preventDefault();
      }}
    >
      {isCompared ? (
        <SelectField
          label="Tools"
          hint="A tool that changes something does so for each side."
          value={hasTools ? 'offered' : 'none'}
          onChange={({ target }) => onChange({ hasTools: target.value === 'offered' })}
        >
          <option value="offered">The model may call tools</option>
          <option value="none">Without tools</option>
        </SelectField>
      ) : (
        <SelectField
          label="Reply"
          hint="Streamed shows the text while it is written."
          value={isStreamed ? 'streamed' : 'whole'}
          onChange={({ target }) => onChange({ isStreamed: target.value === 'streamed' })}
        >
          <option value="streamed">Streamed</option>
          <option value="whole">Whole</option>
        </SelectField>
      )}
      <SelectField
        label="If the session is busy"
        hint="A queued message waits for at most 60 s."
        value={onBusy}
        onChange={({ target }) =>
          onChange({ onBusy: target.value === 'REJECT' ? 'REJECT' : 'ENQUEUE' })
        }
      >
        <option value="ENQUEUE">Queue the message</option>
        <option value="REJECT">Reject the message</option>
      </SelectField>
      {!isCompared && (
        <div className="option-key">
          <TextField
            label="Idempotency key"
            isMono
            placeholder="none"
            maxLength={MAX_KEY_LENGTH}
            hint={KEY_HINT}
            error={keyFault(idempotencyKey)}
            value={idempotencyKey}
            onChange={({ target }) => draft.change({ idempotencyKey: target.value })}
          />
          <Button onClick={() => draft.change({ idempotencyKey: randomId() })}>New key</Button>
        </div>
      )}
    </div>
  );
}
