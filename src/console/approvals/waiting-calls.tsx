import { Link } from 'wouter';
import {
  WaitingCalls as Calls,
  type WholeApprovalFragment,
} from '../../generated/operations/console.ts';
import type { SessionName } from '../chat/use-stored-session.ts';
import { Button } from '../parts/button.tsx';
import { Refused } from '../parts/state.tsx';
import { RelativeTime } from '../parts/time.tsx';
import { toast } from '../parts/toast.tsx';
import { useServerQuery } from '../server/operations.ts';
import { useScope } from '../server/viewer.ts';
import { ApprovalState } from './approval-state.tsx';
import { approvalsAddress } from './labels.ts';
import { RequestText, shownCall } from './request-text.tsx';
import { useApprovalChanges } from './use-approval-changes.ts';
import { useDecision } from './use-decision.ts';

/** How many of the bot's newest waiting calls in the environment are read, to find the calls of a conversation. */
const MAX_READ = 50;

type WaitingProps = {
  session: SessionName;
  /** The name of the side whose conversation it is, in a comparison. */
  side?: string;
};

/** The calls of a conversation that wait for approval, each with its buttons, as items of the conversation. */
export function WaitingCalls(props: WaitingProps) {
  return useScope('APPROVE') ? <Waiting {...props} /> : null;
}

function Waiting({ session: { botId, environment, sessionId }, side }: WaitingProps) {
  const { data, retry } = useServerQuery(Calls, { botId, environment, first: MAX_READ });
  useApprovalChanges({ botId }, (change) => {
    if (!change || change.approval.user === sessionId) retry();
  });
  const calls = data?.bot?.approvals.edges.map(({ node }) => node) ?? [];
  return calls
    .filter(({ user }) => user === sessionId)
    .reverse()
    .map((call) => (
      <WaitingCall key={call.id} botId={botId} approval={call} side={side} onDecided={retry} />
    ));
}

function WaitingCall({
  botId,
  approval,
  side,
  onDecided,
}: {
  botId: string;
  approval: WholeApprovalFragment;
  side: string | undefined;
  onDecided(): void;
}) {
  const { id, name, reason, expiresAt } = approval;
  const { isBusy, problem, decide } = useDecision({ id, botId }, (decided) => {
    if (decided)
      toast(
        `${decided.status === 'DENIED' ? 'Denied' : 'Approved'} ${name}. The bot tells the user.`,
      );
    onDecided();
  });
  return (
    <li
      className="waiting-call"
      aria-label={`${side ? `${side}: ` : ''}${name} waits for approval`}
    >
      <p className="waiting-call-head">
        {side && <span>{side}</span>}
        <strong className="mono">{name}</strong>
        <ApprovalState approval={approval} />
        <span className="faint">
          expires <RelativeTime at={expiresAt} />
        </span>
      </p>
      {reason && <p dir="auto">{reason}</p>}
      <RequestText call={shownCall(approval)} />
      <Refused problem={problem} />
      <p className="waiting-call-actions">
        <Button
          look="primary"
          icon="check"
          isBusy={isBusy}
          onClick={() => void decide({ decision: 'APPROVE' })}
        >
          Approve
        </Button>
        <Button icon="close" isBusy={isBusy} onClick={() => void decide({ decision: 'DENY' })}>
          Deny
        </Button>
        <Link href={approvalsAddress(botId, id)}>Change or add a note</Link>
      </p>
    </li>
  );
}
