import { useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { ApprovalState } from '../../approvals/approval-state.tsx';
import { approvalsAddress, argumentsLine } from '../../approvals/labels.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { More } from '../../parts/more.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Failed, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { useShortcuts } from '../../parts/use-shortcuts.ts';
import type { Pages } from '../../server/use-pages.ts';
import { LISTS, type ListName, type Place, searchOf } from './place.ts';
import type { ListedApproval } from './use-approvals.ts';

const OPTIONS = (Object.keys(LISTS) as ListName[]).map((name) => ({ name, label: LISTS[name] }));

type Props = {
  botId: string;
  place: Place;
  /** The id of the open approval. */
  opened: string | undefined;
  pages: Pages<ListedApproval>;
};

/** The inbox: a choice of the state, and the approvals as links. The keys J and K open the next and the previous one. */
export function ApprovalList(props: Props) {
  const { botId, place, opened } = props;
  const [, navigate] = useLocation();
  return (
    <section className="approval-list" aria-label="Inbox">
      <header>
        <Segments<ListName>
          label="State"
          options={OPTIONS}
          current={place.list}
          onChange={(name) =>
            navigate(approvalsAddress(botId, opened, searchOf({ ...place, list: name })), {
              replace: true,
            })
          }
        />
        <p className="approval-keys">
          <span>
            <kbd>J</kbd> <kbd>K</kbd> next, previous
          </span>
          <span>
            <kbd>A</kbd> approve
          </span>
          <span>
            <kbd>D</kbd> deny
          </span>
        </p>
      </header>
      <Rows key={`${place.list} ${place.environment}`} {...props} />
    </section>
  );
}

function Rows({ botId, place, opened, pages }: Props) {
  const { rows, isFirst, isReading, problem, readAgain } = pages;
  const [, navigate] = useLocation();
  const element = useRef<HTMLUListElement>(null);
  const at = rows.findIndex(({ id }) => id === opened);
  const search = searchOf(place);
  const move = (step: number) => {
    const next = rows[at === -1 && step < 0 ? rows.length - 1 : at + step];
    if (!next) return;
    navigate(approvalsAddress(botId, next.id, search), { replace: opened !== undefined });
    element.current?.querySelector<HTMLElement>(`a[data-id="${next.id}"]`)?.focus();
  };
  useShortcuts({ j: () => move(1), k: () => move(-1) });
  if (isFirst) {
    if (problem) return <Failed problem={problem} onRetry={readAgain} />;
    return <Loading />;
  }
  if (rows.length === 0) return <Nothing botId={botId} place={place} />;
  return (
    <div className="approval-scroll" aria-busy={isReading}>
      <ul ref={element} aria-label="Approvals">
        {rows.map((approval) => (
          <li key={approval.id}>
            <Row
              approval={approval}
              href={approvalsAddress(botId, approval.id, search)}
              isOpen={approval.id === opened}
            />
          </li>
        ))}
      </ul>
      <More pages={pages} />
    </div>
  );
}

function Row({
  approval,
  href,
  isOpen,
}: {
  approval: ListedApproval;
  href: string;
  isOpen: boolean;
}) {
  const { id, name, status, user, environment, createdAt, expiresAt, decidedAt } = approval;
  const input = approval.editedArguments ?? approval.arguments;
  return (
    <Link href={href} className="approval-row" data-id={id} aria-current={isOpen || undefined}>
      <span className="approval-row-name mono cut">{name}</span>
      <span className="approval-row-state">
        <ApprovalState approval={approval} />
      </span>
      <span className="approval-row-text cut" dir="auto">
        {argumentsLine(input)}
      </span>
      <span className="approval-row-facts cut">
        {user && (
          <>
            <span dir="auto">{user}</span> ·{' '}
          </>
        )}
        {environment === 'STAGING' && 'staging · '}
        {status === 'WAITING' ? (
          <>
            asked <RelativeTime at={createdAt} /> · expires <RelativeTime at={expiresAt} />
          </>
        ) : (
          decidedAt && <RelativeTime at={decidedAt} />
        )}
      </span>
    </Link>
  );
}

function Nothing({ botId, place }: { botId: string; place: Place }) {
  const { list, environment } = place;
  const where = environment ? ` in ${toLowerCase(environment)}` : '';
  const both = environment && (
    <ButtonLink
      href={approvalsAddress(botId, undefined, searchOf({ list, environment: undefined }))}
    >
      Show both environments
    </ButtonLink>
  );
  if (list !== 'WAITING')
    return (
      <Empty
        title={
          list === 'ALL'
            ? `No call ever waited${where}`
            : `No call was ${toLowerCase(list)}${where}`
        }
      >
        <p>A call waits here if the definition of its tool has the setting “approval”.</p>
        {both}
      </Empty>
    );
  return (
    <Empty title={`Nothing waits for you${where}`}>
      <p>
        A call of a tool waits here if its definition has the setting “approval”. New ones appear by
        themselves.
      </p>
      {both}
      <ButtonLink href={approvalsAddress(botId, undefined, searchOf({ ...place, list: 'ALL' }))}>
        Show decided calls
      </ButtonLink>
    </Empty>
  );
}

function Loading() {
  return (
    <div className="approval-loading" aria-busy="true">
      <Skeleton height={48} />
      <Skeleton height={48} />
      <Skeleton height={48} />
    </div>
  );
}
