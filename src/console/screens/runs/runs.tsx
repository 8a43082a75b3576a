import { useCallback, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { ColumnMenu } from '../../frame/column-menu.tsx';
import { environmentQuery } from '../../frame/environments.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { quantity } from '../../numbers.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, ButtonLink, IconButton } from '../../parts/button.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Empty, Failed, NoBot } from '../../parts/state.tsx';
import {
  countFilters,
  type Filters,
  filterAt,
  NO_FILTERS,
  readFilters,
  withFilters,
} from '../../runs/filter.ts';
import { endOfMinute } from '../../server/clock.ts';
import { isMissingBot } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';
import { placeIn, withPlace } from '../run/run-place.ts';
import { columnChoice } from './columns.ts';
import { CompareBar } from './compare-bar.tsx';
import { FilterBar } from './filter-bar.tsx';
import { ReplayButton } from './replay-button.tsx';
import { RunPanel } from './run-panel.tsx';
import { RunTable } from './run-table.tsx';
import './runs.css';
import { SCREENS } from '../../screens.ts';
import { useLiveRuns } from './use-live-runs.ts';
import { usePeriodEnd } from './use-period-end.ts';
import { useRuns } from './use-runs.ts';

const Charts = lazyPart(
  () => import('./charts/charts.tsx'),
  () => <div className="charts-space" />,
);
const ExportDialog = lazyPart(() => import('./export/export-dialog.tsx'));

/** Width of the window, in pixels, from which a run opens beside the list. */
const WIDE = 900;

/** The runs of a bot: filters, the list, and the run that is open beside it. The address holds all of that. */
export default function Runs({ botId }: { botId: string }) {
  const mayRead = useScope('RUNS');
  if (!mayRead)
    return (
      <LackingScope title={SCREENS.runs.title} scope="RUNS" reason="Runs hold what users wrote." />
    );
  return <ReadRuns botId={botId} />;
}

function ReadRuns({ botId }: { botId: string }) {
  const [search, setSearch] = useSearchParams();
  const [isPaused, setPaused] = useState(false);
  const [isExporting, setExporting] = useState(false);
  const filters = useFilters(search);
  // In the list, a period that ends now begins where it began when it was chosen.
  const [filter, chosenAt] = useMemo(() => {
    const minute = endOfMinute();
    return [filterAt(filters, minute), minute] as const;
  }, [filters]);
  const pages = useRuns(botId, filter);
  const live = useLiveRuns(botId, filter, pages, !isPaused);
  const period = usePeriodEnd(chosenAt, live.changes, !isPaused);
  const selected = search.get('run') ?? undefined;
  const compared = search.get('compare')?.replaceAll(/\W/g, '') || undefined;
  const select = useCallback(
    (id: string | undefined) => {
      if (id && innerWidth < WIDE) return false;
      setSearch(
        (before) => {
          const next = withPlace(before, { ...placeIn(before), span: undefined });
          if (id) next.set('run', id);
          else next.delete('run');
          return next;
        },
        { replace: true },
      );
      return true;
    },
    [setSearch],
  );
  if (pages.problem && isMissingBot(pages.problem))
    return (
      <Screen title={SCREENS.runs.title}>
        <NoBot />
      </Screen>
    );
  return (
    <Screen
      title={SCREENS.runs.title}
      actions={
        <>
          <span title={live.problem?.message}>
            <Badge tone={live.problem ? 'bad' : isPaused ? 'off' : 'live'}>
              {live.problem ? 'not live' : isPaused ? 'paused' : 'live'}
            </Badge>
          </span>
          <Button look="quiet" onClick={() => setPaused(!isPaused)}>
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <ReplayButton botId={botId} filters={filters} filter={filter} />
          <IconButton label="Export…" icon="down" onClick={() => setExporting(true)} />
          <ColumnMenu choice={columnChoice} />
        </>
      }
    >
      {isExporting && (
        <ExportDialog
          botId={botId}
          filter={filter}
          filters={filters}
          onClose={() => setExporting(false)}
        />
      )}
      <div className={selected ? 'runs runs-open' : 'runs'}>
        <div className="runs-list">
          <FilterBar
            botId={botId}
            filters={filters}
            now={period.now}
            onChange={(change, isTyping = false) =>
              setSearch((before) => withFilters(before, change), { replace: isTyping })
            }
          />
          <Charts
            botId={botId}
            filters={filters}
            now={period.now}
            onRange={(from, to) =>
              setSearch((before) => withFilters(before, { range: '', date: '', from, to }))
            }
          />
          {compared && <CompareBar id={compared} />}
          {live.count > 0 && (
            <button
              type="button"
              className="runs-new"
              onClick={() => {
                live.show();
                period.move();
              }}
            >
              {quantity(live.count, 'new run')} ↑
            </button>
          )}
          <span className="unseen" role="status">
            {live.count > 0 ? `${live.count.toLocaleString('en')} new runs` : ''}
          </span>
          {pages.problem && (pages.isFirst || pages.rows.length === 0) ? (
            <Failed problem={pages.problem} onRetry={pages.readAgain} />
          ) : (
            <RunTable
              pages={pages}
              search={search}
              selected={selected}
              compared={compared}
              onSelect={select}
            >
              <NoRuns
                botId={botId}
                environment={filter.environment ?? undefined}
                isFiltered={countFilters(filters) > 0}
                onClear={() => setSearch((before) => withFilters(before, NO_FILTERS))}
              />
            </RunTable>
          )}
        </div>
        {selected && (
          <RunPanel key={selected} id={selected} botId={botId} onClose={() => select(undefined)} />
        )}
      </div>
    </Screen>
  );
}

/** The filters of the address. They stay the same object while the address changes elsewhere. */
function useFilters(search: URLSearchParams): Filters {
  const read = readFilters(search);
  const text = JSON.stringify(read);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `text` changes exactly when the filters change
  return useMemo(() => read, [text]);
}

function NoRuns({
  botId,
  environment,
  isFiltered,
  onClear,
}: {
  botId: string;
  environment: Environment | undefined;
  isFiltered: boolean;
  onClear(): void;
}) {
  if (isFiltered)
    return (
      <Empty title="No run matches these filters">
        <p>Widen the time, or clear the filters.</p>
        <Button onClick={onClear}>Clear the filters</Button>
      </Empty>
    );
  return (
    <Empty title={environment ? `No runs in ${toLowerCase(environment)} yet` : 'No runs yet'}>
      <p>Each message to this bot becomes a run. Send the first one in the playground.</p>
      <ButtonLink href={`/bots/${botId}/playground${environmentQuery(environment)}`} look="primary">
        Open the playground
      </ButtonLink>
    </Empty>
  );
}
