import { useSearchParams } from 'wouter';
import { versionName } from '../../deploy/version.ts';
import { environmentQuery } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { Faults } from '../../parts/faults.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Empty, Failed, Skeleton } from '../../parts/state.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import './deployments.css';
import { SCREENS } from '../../screens.ts';
import { selectedIn, withChosen } from './address.ts';
import { DeployScreen } from './deploy-screen.tsx';
import { Entry, OpenedEntry } from './entry.tsx';
import {
  type DeploymentFilter,
  type Filters,
  readFilters,
  STATUS_NAMES,
  withParameters,
} from './filter.ts';
import { SelectionBar } from './selection-bar.tsx';
import { useDeployments } from './use-deployments.ts';

/** The deployments of a bot as a timeline. The address has the filter and the open deployment. */
export default function Deployments({ botId, opened }: { botId: string; opened?: string }) {
  const [search] = useSearchParams();
  const mayDeploy = useScope('DEPLOY');
  if (opened === 'new') return <DeployScreen botId={botId} />;
  const filters = readFilters(search);
  const { filter } = filters;
  return (
    <Screen
      title={SCREENS.deployments.title}
      actions={
        mayDeploy ? (
          <ButtonLink
            href={`/bots/${botId}/deployments/new${environmentQuery(filter.environment ?? undefined)}`}
            look="primary"
            icon="plus"
          >
            Deploy…
          </ButtonLink>
        ) : (
          <Button look="primary" icon="plus" unavailable={lacks('DEPLOY')}>
            Deploy…
          </Button>
        )
      }
    >
      <div className="deployments">
        <FilterBar filters={filters} />
        <Timeline
          key={`${filter.environment} ${filter.status}`}
          botId={botId}
          opened={opened}
          filter={filter}
        />
      </div>
    </Screen>
  );
}

function FilterBar({ filters: { filter, faults, status } }: { filters: Filters }) {
  const [, setSearch] = useSearchParams();
  const change = (parameters: Record<string, string>) =>
    setSearch((before) => withParameters(before, parameters));
  return (
    <search className="deployment-filters" aria-label="Filters">
      <SelectField
        label="Status"
        value={filter.status ? STATUS_NAMES[filter.status] : status}
        aria-invalid={faults.status !== undefined || undefined}
        onChange={({ target }) => change({ status: target.value })}
      >
        <option value="">any</option>
        {Object.values(STATUS_NAMES).map((name) => (
          <option key={name}>{name}</option>
        ))}
        {faults.status && <option value={status}>{status}</option>}
      </SelectField>
      <Faults faults={faults} effect="It is ignored." />
    </search>
  );
}

function Timeline({
  botId,
  opened,
  filter,
}: {
  botId: string;
  opened: string | undefined;
  filter: DeploymentFilter;
}) {
  const pages = useDeployments(botId, filter);
  const [search, setSearch] = useSearchParams();
  const selected = selectedIn(search);
  const select = (ids: string[]) =>
    setSearch((before) => withParameters(before, { compare: ids.join(',') }), { replace: true });
  const { rows: deployments, head, problem, isReading, hasMore, isFirst } = pages;
  if (isFirst && problem) return <Failed problem={problem} onRetry={pages.readAgain} />;
  if (isFirst) return <Loading />;
  const isListed = deployments.some(({ id }) => id === opened);
  const restoredBy = (id: string) =>
    deployments.find(({ rolledBackTo }) => rolledBackTo?.id === id);
  return (
    <>
      {opened && !isListed && <OpenedEntry key={opened} botId={botId} id={opened} />}
      {deployments.length === 0 && <Nothing botId={botId} filter={filter} />}
      {selected.length > 0 && (
        <SelectionBar
          botId={botId}
          selected={selected}
          names={new Map(deployments.map((one) => [one.id, versionName(one)]))}
          onClear={() => select([])}
        />
      )}
      {deployments.length > 0 && (
        <ol className="timeline" aria-label="Deployments" aria-busy={isReading}>
          {deployments.map((deployment) => (
            <Entry
              key={deployment.id}
              botId={botId}
              deployment={deployment}
              isRunning={head?.running.has(deployment.id) ?? false}
              isOpen={deployment.id === opened}
              restoredBy={restoredBy(deployment.id)}
              selection={{
                isSelected: selected.includes(deployment.id),
                toggle: () => select(withChosen(selected, deployment.id)),
              }}
            />
          ))}
        </ol>
      )}
      {problem ? (
        <Failed problem={problem} onRetry={pages.readAgain} />
      ) : (
        hasMore && (
          <div className="timeline-more">
            <Button isBusy={isReading} onClick={pages.readMore}>
              Show more
            </Button>
          </div>
        )
      )}
    </>
  );
}

function Nothing({ botId, filter }: { botId: string; filter: DeploymentFilter }) {
  const [, setSearch] = useSearchParams();
  const mayDeploy = useScope('DEPLOY');
  if (filter.environment || filter.status)
    return (
      <Empty title="No deployment matches these filters">
        <p>Failed attempts are listed too.</p>
        <Button
          onClick={() =>
            setSearch((before) => withParameters(before, { environment: '', status: '' }))
          }
        >
          Clear the filters
        </Button>
      </Empty>
    );
  return (
    <Empty title="Nothing was deployed yet">
      <p>A deployment gives the bot its definition. Paste one or choose a file.</p>
      {mayDeploy ? (
        <ButtonLink href={`/bots/${botId}/deployments/new`} look="primary">
          Deploy…
        </ButtonLink>
      ) : (
        <p>{lacks('DEPLOY')}</p>
      )}
    </Empty>
  );
}

function Loading() {
  return (
    <div className="timeline" aria-busy="true">
      {['a', 'b', 'c'].map((row) => (
        <div key={row} className="entry-head">
          <Skeleton width="72px" />
          <Skeleton width="40%" />
          <Skeleton width="96px" />
        </div>
      ))}
    </div>
  );
}
