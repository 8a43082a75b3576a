import { useState } from 'react';
import { Bots as BotsQuery } from '../../../generated/operations/console.ts';
import { Screen } from '../../frame/screen.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Empty } from '../../parts/state.tsx';
import {
  MissingRows,
  MoreRow,
  type OnMore,
  Pages,
  TableHead,
  WholeRow,
} from '../../parts/table.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { useNewBotRefusal } from '../../server/viewer.ts';
import { BotRow, type ListedBot } from './bot-row.tsx';
import './bots.css';
import { SCREENS } from '../../screens.ts';
import { DeleteBotDialog } from './delete-bot.tsx';
import { RenameBotDialog } from './rename-bot.tsx';
import { useStats } from './use-stats.ts';

/** Bots of one page of the list. */
const PAGE = 50;
const COLUMNS = 8;

/** The list of the account's bots: what runs where, and how the last day went. */
export function Bots() {
  const refusal = useNewBotRefusal();
  return (
    <Screen
      title={SCREENS.bots.title}
      actions={
        refusal ? (
          <Button look="primary" icon="plus" unavailable={refusal}>
            New bot
          </Button>
        ) : (
          <NewBotLink />
        )
      }
    >
      <BotTable />
    </Screen>
  );
}

function NewBotLink() {
  return (
    <ButtonLink href={SCREENS.newBot.path} look="primary" icon="plus">
      {SCREENS.newBot.title}
    </ButtonLink>
  );
}

function BotTable() {
  const [renamed, setRenamed] = useState<ListedBot>();
  const [leaving, setLeaving] = useState<ListedBot>();
  return (
    <>
      <table className="table bots">
        <TableHead
          columns={['Bot', 'Production', 'Staging', 'Last 24 hours', 'Runs', 'Failed', 'p95']}
          numbers={['Runs', 'Failed', 'p95']}
          hasActions
        />
        <Pages
          page={(after, onMore) => (
            <BotPage after={after} onMore={onMore} onRename={setRenamed} onDelete={setLeaving} />
          )}
        />
      </table>
      {renamed && <RenameBotDialog bot={renamed} onClose={() => setRenamed(undefined)} />}
      {leaving && <DeleteBotDialog bot={leaving} onClose={() => setLeaving(undefined)} />}
    </>
  );
}

function BotPage({
  after,
  onMore,
  onRename,
  onDelete,
}: {
  after: string | null;
  onMore: OnMore;
  onRename(bot: ListedBot): void;
  onDelete(bot: ListedBot): void;
}) {
  const { data, problem, retry } = useServerQuery(BotsQuery, { first: PAGE, after });
  const stats = useStats({ first: PAGE, after });
  if (!data)
    return <MissingRows columns={COLUMNS} className="bot" problem={problem} onRetry={retry} />;
  const { edges, pageInfo } = data.bots;
  if (edges.length === 0 && after === null)
    return (
      <WholeRow columns={COLUMNS}>
        <NoBots />
      </WholeRow>
    );
  return (
    <tbody>
      {edges.map(({ node }) => (
        <BotRow
          key={node.id}
          bot={node}
          stats={stats.of(node.id)}
          onRename={() => onRename(node)}
          onDelete={() => onDelete(node)}
        />
      ))}
      <MoreRow columns={COLUMNS} pageInfo={pageInfo} onMore={onMore} />
    </tbody>
  );
}

function NoBots() {
  const refusal = useNewBotRefusal();
  return (
    <Empty title="Make your first bot">
      <p>
        Name it, give it a definition, and talk to it. An example definition is ready, so it takes
        less than a minute.
      </p>
      {refusal ? <p>{refusal} Ask the owner of the account for a bot.</p> : <NewBotLink />}
    </Empty>
  );
}
