import { useSearchParams } from 'wouter';
import { useEnvironment } from '../../frame/environments.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { Faults } from '../../parts/faults.tsx';
import { NoBot } from '../../parts/state.tsx';
import { SCREENS } from '../../screens.ts';
import { isMissingBot } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';
import { ApprovalList } from './approval-list.tsx';
import { ApprovalPanel } from './approval-panel.tsx';
import './approvals.css';
import { listIn } from './place.ts';
import { useApprovals, withChange } from './use-approvals.ts';

/** The tool calls of a bot that wait for a person, and the decided ones. The address holds the list and the open one. */
export default function Approvals({ botId, opened }: { botId: string; opened?: string }) {
  const mayDecide = useScope('APPROVE');
  if (!mayDecide)
    return (
      <LackingScope
        title={SCREENS.approvals.title}
        scope="APPROVE"
        reason="Approvals hold the requests of tools."
      />
    );
  return <Inbox botId={botId} opened={opened} />;
}

function Inbox({ botId, opened }: { botId: string; opened: string | undefined }) {
  const [search] = useSearchParams();
  const { list, fault } = listIn(search);
  const { chosen: environment } = useEnvironment();
  const pages = useApprovals(botId, list === 'ALL' ? null : list, environment);
  const place = { list, environment };
  if (pages.problem && isMissingBot(pages.problem))
    return (
      <Screen title={SCREENS.approvals.title}>
        <NoBot />
      </Screen>
    );
  return (
    <Screen title={SCREENS.approvals.title}>
      <Faults faults={{ status: fault }} effect="The waiting calls are listed." />
      <div className={opened ? 'approvals approvals-open' : 'approvals'}>
        <ApprovalList botId={botId} place={place} opened={opened} pages={pages} />
        {opened && (
          <ApprovalPanel
            key={opened}
            id={opened}
            botId={botId}
            place={place}
            onDecided={(decided) => {
              if (decided) pages.change((rows) => withChange(rows, decided));
              // Somebody else may have decided, or the call may be deleted.
              else pages.readAgain();
            }}
          />
        )}
      </div>
    </Screen>
  );
}
