import { Link } from 'wouter';
import { Usage as UsageOf, type UsageQuery } from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { TableHead } from '../../parts/table.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { PlanMeters } from './plan-meters.tsx';
import { Section } from './section.tsx';

/** Requests of this minute and day, and tokens of this month by bot and by key. */
export function UsageSettings() {
  const mayReadRuns = useScope('RUNS');
  const mayReadKeys = useScope('ADMIN');
  const { data, problem, isLoading, retry } = useServerQuery(UsageOf, {
    ofRuns: mayReadRuns,
    byKey: mayReadRuns && mayReadKeys,
  });
  return (
    <Section
      screen="usage"
      actions={
        <Button onClick={retry} isBusy={isLoading}>
          Refresh
        </Button>
      }
    >
      {problem && !data ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <div className="settings-body" aria-busy={!data}>
          <section>
            <h2>Requests</h2>
            {data ? <PlanMeters limits={data.viewer} onReset={retry} /> : <Skeleton height={96} />}
          </section>
          {mayReadRuns ? (
            <Tokens usage={data?.viewer.usage} mayReadKeys={mayReadKeys} />
          ) : (
            <section>
              <h2>Tokens this month</h2>
              <p className="soft">{lacks('RUNS')}</p>
            </section>
          )}
        </div>
      )}
    </Section>
  );
}

type Used = UsageQuery['viewer']['usage'];

function Tokens({ usage, mayReadKeys }: { usage: Used | undefined; mayReadKeys: boolean }) {
  const bots = usage?.byBot?.map(({ bot, ...sums }) => ({
    ...sums,
    id: bot.id,
    name: <Link href={`/bots/${bot.id}/playground`}>{bot.name}</Link>,
  }));
  const keys = usage?.byKey?.map(({ apiKey, ...sums }) => ({
    ...sums,
    id: apiKey.id,
    name: apiKey.name,
  }));
  return (
    <>
      <section>
        <h2>Tokens this month, by bot</h2>
        <Sums
          what="Bot"
          rows={bots}
          total={usage?.tokensThisMonth}
          none="No bot has used a token this month. Send a message to a bot to see its usage."
        />
      </section>
      <section>
        <h2>Tokens this month, by key</h2>
        {mayReadKeys ? (
          <Sums what="Key" rows={keys} none="No key has used a token this month." />
        ) : (
          <p className="soft">{lacks('ADMIN')}</p>
        )}
      </section>
    </>
  );
}

type Sum = { id: string; name: React.ReactNode; requests: number; tokens: number };

function Sums({
  what,
  rows,
  total,
  none,
}: {
  what: string;
  rows: Sum[] | undefined;
  total?: number | undefined;
  none: string;
}) {
  if (!rows) return <Skeleton height={96} />;
  if (rows.length === 0) return <p className="soft">{none}</p>;
  return (
    <table className="table usage-table">
      <TableHead
        columns={[what, 'Chats and prompts', 'Tokens']}
        numbers={['Chats and prompts', 'Tokens']}
      />
      <tbody>
        {rows.map(({ id, name, requests, tokens }) => (
          <tr key={id}>
            <td>{name}</td>
            <td className="right">{requests.toLocaleString('en')}</td>
            <td className="right">{tokens.toLocaleString('en')}</td>
          </tr>
        ))}
      </tbody>
      {total !== undefined && (
        <tfoot>
          <tr>
            <td>Together</td>
            <td />
            <td className="right">{total.toLocaleString('en')}</td>
          </tr>
        </tfoot>
      )}
    </table>
  );
}
