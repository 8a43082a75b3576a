import { useEffect, useRef } from 'react';
import { Link } from 'wouter';
import { Approval, type ApprovalQuery } from '../../../generated/operations/console.ts';
import { ApprovalState } from '../../approvals/approval-state.tsx';
import { approvalsAddress } from '../../approvals/labels.ts';
import { RequestText, shownCall } from '../../approvals/request-text.tsx';
import { useApprovalChanges } from '../../approvals/use-approval-changes.ts';
import { Icon } from '../../parts/icon.tsx';
import { Empty, Failed, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';
import { ApprovalOutcome } from './approval-outcome.tsx';
import { ApprovalTalk } from './approval-talk.tsx';
import { DecisionForm } from './decision-form.tsx';
import { type Place, searchOf } from './place.ts';
import type { ListedApproval } from './use-approvals.ts';

type Shown = NonNullable<ApprovalQuery['approval']>;

/** An approval beside the list: the request, the decision, and the conversation. */
export function ApprovalPanel({
  id,
  botId,
  place,
  onDecided,
}: {
  id: string;
  botId: string;
  place: Place;
  /** Called with the decided call, and without one after a refusal. */
  onDecided(approval: ListedApproval | undefined): void;
}) {
  const withMessages = useScope('RUNS');
  const { data, problem, retry } = useServerQuery(Approval, { id, botId, withMessages });
  useApprovalChanges({ botId }, (change) => {
    if (!change || change.approval.id === id) retry();
  });
  const approval = data?.approval;
  return (
    <section className="approval-panel" aria-label="Open approval">
      <Link className="approval-back" href={approvalsAddress(botId, undefined, searchOf(place))}>
        All approvals
      </Link>
      {approval ? (
        <Body
          approval={approval}
          botId={botId}
          onDecided={(decided) => {
            onDecided(decided);
            retry();
          }}
        />
      ) : problem?.code === 'APPROVAL_NOT_FOUND' ? (
        <Empty title="This bot has no such approval">
          <p>It was deleted with its run, or the address is incomplete.</p>
        </Empty>
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <div className="approval-loading" aria-busy="true">
          <Skeleton width="40%" height={20} />
          <Skeleton height={120} />
          <Skeleton height={120} />
        </div>
      )}
    </section>
  );
}

function Body({
  approval,
  botId,
  onDecided,
}: {
  approval: Shown;
  botId: string;
  onDecided(approval: ListedApproval | undefined): void;
}) {
  const { name, status, reason } = approval;
  const isOpen = status === 'WAITING';
  const heading = useRef<HTMLHeadingElement>(null);
  const wasOpen = useRef(isOpen);
  // The form had the focus, and is gone.
  useEffect(() => {
    if (wasOpen.current && !isOpen && document.activeElement === document.body)
      heading.current?.focus();
    wasOpen.current = isOpen;
  }, [isOpen]);
  return (
    <>
      <header className="approval-head">
        <h2 ref={heading} className="mono" tabIndex={-1}>
          {name}
        </h2>
        <span className="approval-head-state" role="status">
          <ApprovalState approval={approval} />
        </span>
        <Asked approval={approval} />
      </header>
      <div className="approval-body">
        <div className="approval-main">
          {reason && (
            <p className="approval-reason">
              <Icon name="warning" size={14} />
              <span dir="auto">{reason}</span>
            </p>
          )}
          {!isOpen && <ApprovalOutcome approval={approval} />}
          <section className="approval-request" aria-label="Request">
            <h3>
              {isOpen || status !== 'APPROVED' ? 'The exact request' : 'The request that was sent'}
            </h3>
            <RequestText call={shownCall(approval)} />
          </section>
          {isOpen && (
            <DecisionForm
              key={approval.id}
              approval={approval}
              botId={botId}
              onDecided={onDecided}
            />
          )}
        </div>
        <ApprovalTalk approval={approval} botId={botId} />
      </div>
    </>
  );
}

function Asked({ approval }: { approval: Shown }) {
  const { user, environment, createdAt, expiresAt, status } = approval;
  return (
    <p className="approval-asked faint">
      asked <RelativeTime at={createdAt} />
      {user && (
        <>
          {' '}
          for{' '}
          <span className="mono" dir="auto">
            {user}
          </span>
        </>
      )}
      {` · ${environment.toLowerCase()}`}
      {status === 'WAITING' && (
        <>
          {' '}
          · expires <RelativeTime at={expiresAt} />
        </>
      )}
    </p>
  );
}
