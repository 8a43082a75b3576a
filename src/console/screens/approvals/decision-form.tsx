import { useMemo, useState } from 'react';
import type { WholeApprovalFragment } from '../../../generated/operations/console.ts';
import { useDecision } from '../../approvals/use-decision.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { useShortcuts } from '../../parts/use-shortcuts.ts';
import type { Problem } from '../../server/problem.ts';
import { isRecord } from '../../server/record.ts';
import { type Draft, fieldsOf, readFields, readJson } from './argument-fields.ts';
import { ArgumentsForm } from './arguments-form.tsx';
import { EditedRequest } from './edited-request.tsx';

/** Characters of a note. Source: `decideApproval`. */
const MAX_NOTE = 2_000;

/** Decides on a call that waits: its arguments, a note, and two buttons. The keys A and D are the buttons. */
export function DecisionForm({
  approval,
  botId,
  onDecided,
}: {
  approval: WholeApprovalFragment;
  botId: string;
  /** Called with the decided call, and without one after a refusal. */
  onDecided(approval: WholeApprovalFragment | undefined): void;
}) {
  const { id, inputSchema } = approval;
  const given = useMemo(
    () => (isRecord(approval.arguments) ? approval.arguments : {}),
    [approval.arguments],
  );
  const fields = useMemo(() => fieldsOf(inputSchema, given), [inputSchema, given]);
  const [draft, setDraft] = useState<Draft>({});
  const [note, setNote] = useState('');
  const { isBusy, problem, decide } = useDecision({ id, botId }, onDecided);
  const json = draft.arguments ?? JSON.stringify(given, null, 2);
  const { changed, faults, edited } = fields ? readFields(fields, draft) : readJson(json, given);
  const wrong = Object.keys(faults).length > 0 && 'Correct the arguments first.';
  const approve = () => {
    if (!wrong) void decide({ decision: 'APPROVE', note, arguments: edited });
  };
  const deny = () => void decide({ decision: 'DENY', note });
  useShortcuts({ a: approve, d: deny });
  return (
    <form className="approval-form" onSubmit={(event) => event.preventDefault()}>
      <section aria-label="Arguments">
        <header>
          <h3>Arguments</h3>
          {changed.length > 0 && (
            <Button look="quiet" onClick={() => setDraft({})}>
              Restore the model’s
            </Button>
          )}
        </header>
        {fields?.length === 0 && <p className="faint">The tool has no arguments.</p>}
        {fields ? (
          <ArgumentsForm fields={fields} draft={draft} faults={faults} onChange={setDraft} />
        ) : (
          <TextArea
            label="Arguments as JSON"
            isMono
            rows={6}
            value={json}
            error={faults.arguments}
            hint="The server checks them against the declaration of the tool."
            onChange={({ target }) => setDraft({ arguments: target.value })}
          />
        )}
        {changed.length > 0 && (
          <p className="approval-changed" role="status">
            The request is composed again from the changed arguments. Both versions are kept.
          </p>
        )}
        {edited && !wrong && <EditedRequest approval={approval} botId={botId} edited={edited} />}
      </section>
      <TextArea
        label="Note"
        rows={2}
        maxLength={MAX_NOTE}
        value={note}
        hint="The model reads it, and may tell the user."
        onChange={({ target }) => setNote(target.value)}
      />
      <footer className="approval-actions">
        <Refusal problem={problem} />
        <p className="faint">
          The decision is final. The call is sent once, then the bot tells the user.
        </p>
        <Button icon="close" isBusy={isBusy} aria-keyshortcuts="D" onClick={deny}>
          Deny <kbd>D</kbd>
        </Button>
        <Button
          look="primary"
          icon="check"
          isBusy={isBusy}
          unavailable={wrong}
          aria-keyshortcuts="A"
          onClick={approve}
        >
          {changed.length > 0 ? 'Approve with changes' : 'Approve'} <kbd>A</kbd>
        </Button>
      </footer>
    </form>
  );
}

/** Why the server refused a decision. */
function Refusal({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null;
  const { code, message, details } = problem;
  return (
    <div className="approval-refusal" role="alert">
      <p>
        <strong className="mono">{code.toLowerCase()}</strong> {message}
        {code === 'TOOL_GONE' && ' You can still deny the call.'}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message: fault }) => (
            <li key={`${path} ${fault}`}>
              <span className="mono">{path}</span> {fault}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
