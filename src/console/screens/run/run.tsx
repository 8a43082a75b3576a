import { useEffect } from 'react';
import { useSearchParams } from 'wouter';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { shownBot } from '../../frame/shown-bot.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { Id } from '../../parts/copy.tsx';
import { Empty, Failed } from '../../parts/state.tsx';
import { FailedCalls } from '../../runs/failed-calls.tsx';
import { RunBadge } from '../../runs/run-badge.tsx';
import { SCREENS } from '../../screens.ts';
import { useScope } from '../../server/viewer.ts';
import { RunActions } from './run-actions.tsx';
import { RunBody } from './run-body.tsx';
import { RunLoading } from './run-loading.tsx';
import { RunNeighbours } from './run-neighbours.tsx';
import { placeIn, withPlace } from './run-place.ts';
import { failedCallsOf, useRun } from './use-run.ts';

/** The page of a run. */
export default function Run({ id }: { id: string }) {
  const mayRead = useScope('RUNS');
  if (!mayRead)
    return (
      <LackingScope title={SCREENS.run.title} scope="RUNS" reason="Runs hold what users wrote." />
    );
  return <ReadRun id={id} />;
}

function ReadRun({ id }: { id: string }) {
  const [search, setSearch] = useSearchParams();
  const place = placeIn(search);
  const reading = useRun(id, place.tab === 'events');
  const { run, problem, retry } = reading;
  const botId = run?.bot.id;
  useEffect(() => {
    shownBot.set(botId);
    return () => shownBot.set(undefined);
  }, [botId]);
  return (
    <Screen
      title={SCREENS.run.title}
      actions={
        run && (
          <>
            <span className="run-page-state">
              <RunBadge status={run.status} />
              <FailedCalls count={failedCallsOf(run)} />
              <Id>{run.id}</Id>
            </span>
            <RunNeighbours run={run} />
            <RunActions run={run} onCancelled={retry} />
          </>
        )
      }
    >
      {run ? (
        <RunBody
          run={run}
          reading={reading}
          place={place}
          onPlace={(change) =>
            setSearch((before) => withPlace(before, { ...place, ...change }), { replace: true })
          }
        />
      ) : problem?.code === 'RUN_NOT_FOUND' ? (
        <NoRun id={id} />
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <RunLoading />
      )}
    </Screen>
  );
}

function NoRun({ id }: { id: string }) {
  return (
    <Empty title="There is no such run">
      <p className="mono">{id.slice(0, 64)}</p>
      <p>
        It was deleted, its retention is over, or it belongs to another account than the one that
        you are signed in to.
      </p>
      <ButtonLink href="/bots">Go to your bots</ButtonLink>
    </Empty>
  );
}
