import { Link } from 'wouter';
import type { ApprovalQuery } from '../../../generated/operations/console.ts';
import { KeyName } from '../../deploy/key-name.tsx';
import { LocalTime } from '../../parts/time.tsx';
import { useScope } from '../../server/viewer.ts';
import { LongText } from '../../tool-calls/long-text.tsx';
import { ToolCallDetails } from '../../tool-calls/tool-call-details.tsx';

type Shown = NonNullable<ApprovalQuery['approval']>;

/** The decision, who made it, and the outcome of the call. */
export function ApprovalOutcome({ approval }: { approval: Shown }) {
  const { name, status, note, call, editedArguments, decidedAt, decidedById } = approval;
  return (
    <section className="approval-outcome" aria-label="Decision">
      <p>
        {status === 'EXPIRED' ? 'Nobody decided in time' : VERBS[status]}
        {status !== 'EXPIRED' && (
          <>
            {' '}
            {decidedById ? (
              <KeyName id={decidedById} />
            ) : (
              'in a chat of Telegram, or by a deleted key'
            )}
          </>
        )}
        {decidedAt && (
          <>
            , <LocalTime at={decidedAt} />
          </>
        )}
      </p>
      {note && (
        <p className="approval-said" dir="auto">
          “{note}”
        </p>
      )}
      <FollowUp approval={approval} />
      {editedArguments !== null && (
        <section className="tool-call-part">
          <h3>Arguments of the model, before the change</h3>
          <LongText
            label={`Arguments from the model for ${name}`}
            text={JSON.stringify(approval.arguments)}
          />
        </section>
      )}
      {call && status === 'APPROVED' && <ToolCallDetails call={call} isShownInPart />}
    </section>
  );
}

const VERBS = { WAITING: '', APPROVED: 'Approved', DENIED: 'Denied' };

function FollowUp({ approval: { followUpRunId, runId, user } }: { approval: Shown }) {
  const mayRead = useScope('RUNS');
  if (!mayRead) return null;
  return (
    <p className="approval-links">
      {followUpRunId ? (
        <Link href={`/runs/${followUpRunId}`}>Follow-up run</Link>
      ) : (
        user && <span className="faint">No follow-up run has told the user yet.</span>
      )}
      <Link href={`/runs/${runId}`}>Requesting run</Link>
    </p>
  );
}
