import { useSearchParams } from 'wouter';
import { AuditLog, type AuditLogQuery, Keys } from '../../../../generated/operations/console.ts';
import { Id } from '../../../parts/copy.tsx';
import { Empty } from '../../../parts/state.tsx';
import {
  MissingRows,
  MoreRow,
  type OnMore,
  Pages,
  TableHead,
  WholeRow,
} from '../../../parts/table.tsx';
import { LocalTime } from '../../../parts/time.tsx';
import { useServerQuery } from '../../../server/operations.ts';
import { Section } from '../section.tsx';
import { ACTIONS, type AuditAddress, filterOf, KEYLESS, readAddress } from './filter.ts';
import { Filters } from './filters.tsx';

/** Entries of one page of the list. */
const PAGE = 50;
const COLUMNS = 5;

/** The changes that keys of the account and operators made. The address holds the filters. */
export function Audit() {
  return (
    <Section screen="audit">
      <FilteredLog />
    </Section>
  );
}

function FilteredLog() {
  const [search, setSearch] = useSearchParams();
  const address = readAddress(search);
  const { data } = useServerQuery(Keys, {});
  const keys = data?.viewer.account.apiKeys ?? [];
  const change = (part: Partial<AuditAddress>) => {
    const filled = Object.entries({ ...address, ...part }).filter(([, value]) => value !== '');
    setSearch(Object.fromEntries(filled));
  };
  const nameOf = (id: string) => keys.find((key) => key.id === id)?.name;
  return (
    <>
      <Filters address={address} keys={keys} onChange={change} />
      <Log key={JSON.stringify(address)} address={address} nameOf={nameOf} />
    </>
  );
}

function Log({
  address,
  nameOf,
}: {
  address: AuditAddress;
  nameOf(keyId: string): string | undefined;
}) {
  return (
    <table className="table table-cards">
      <TableHead columns={['Time', 'Who', 'What', 'Target', 'Bot']} />
      <Pages
        page={(after, onMore) => (
          <LogPage address={address} after={after} nameOf={nameOf} onMore={onMore} />
        )}
      />
    </table>
  );
}

function LogPage({
  address,
  after,
  nameOf,
  onMore,
}: {
  address: AuditAddress;
  after: string | null;
  nameOf(keyId: string): string | undefined;
  onMore: OnMore;
}) {
  const filter = filterOf(address);
  const { data, problem, retry } = useServerQuery(AuditLog, { first: PAGE, after, filter });
  if (!data) return <MissingRows columns={COLUMNS} problem={problem} onRetry={retry} />;
  const { edges, pageInfo } = data.viewer.account.auditLog;
  if (edges.length === 0 && after === null)
    return (
      <WholeRow columns={COLUMNS}>
        <Nothing isFiltered={Object.keys(filter).length > 0} />
      </WholeRow>
    );
  return (
    <tbody>
      {edges.map(({ node }) => (
        <Entry key={node.id} entry={node} nameOf={nameOf} />
      ))}
      <MoreRow columns={COLUMNS} pageInfo={pageInfo} onMore={onMore} />
    </tbody>
  );
}

type Listed = AuditLogQuery['viewer']['account']['auditLog']['edges'][number]['node'];

function Entry({ entry, nameOf }: { entry: Listed; nameOf(keyId: string): string | undefined }) {
  const { createdAt, keyId, action, targetId, botId } = entry;
  return (
    <tr>
      <td data-label="Time">
        <LocalTime at={createdAt} />
      </td>
      <td data-label="Who">
        {keyId ? (nameOf(keyId) ?? <Id>{keyId}</Id>) : (KEYLESS[action] ?? 'an operator')}
      </td>
      <td data-label="What">{ACTIONS[action]}</td>
      <td data-label="Target">{nameOf(targetId) ?? <Id>{targetId}</Id>}</td>
      <td data-label="Bot" className={botId ? undefined : 'faint table-none'}>
        {botId ? <Id>{botId}</Id> : '–'}
      </td>
    </tr>
  );
}

function Nothing({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <Empty title="No entry matches these filters">
        <p>Widen the days, or clear the filters.</p>
      </Empty>
    );
  return (
    <Empty title="Nothing was changed yet">
      <p>Deploys, keys, deletions and changes of memory appear here, for 400 days.</p>
    </Empty>
  );
}
