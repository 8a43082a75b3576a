import { useEffect } from 'react';
import { Link } from 'wouter';
import { Run as ReadRun } from '../../../generated/operations/console.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { shownBot } from '../../frame/shown-bot.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { Empty, Failed } from '../../parts/state.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';
import { RunLoading } from '../run/run-loading.tsx';
import type { ShownRun } from '../run/use-run.ts';
import './compare.css';
import { SCREENS } from '../../screens.ts';
import { RunFactTable } from './run-fact-table.tsx';
import { Sources } from './sources.tsx';
import { Texts } from './texts.tsx';
import { Traces } from './traces.tsx';

/** Two runs beside each other. */
export default function Compare({ id, other }: { id: string; other: string }) {
  const mayRead = useScope('RUNS');
  if (!mayRead)
    return (
      <LackingScope
        title={SCREENS.compare.title}
        scope="RUNS"
        reason="Runs hold what users wrote."
      />
    );
  return (
    <Screen
      title={SCREENS.compare.title}
      actions={<ButtonLink href={`/runs/${other}/compare/${id}`}>Swap</ButtonLink>}
    >
      <ReadBoth id={id} other={other} />
    </Screen>
  );
}

function ReadBoth({ id, other }: { id: string; other: string }) {
  const first = useServerQuery(ReadRun, { id });
  const second = useServerQuery(ReadRun, { id: other });
  const botId = first.data?.run?.bot.id;
  useEffect(() => {
    shownBot.set(botId);
    return () => shownBot.set(undefined);
  }, [botId]);
  const [one, two] = [first.data?.run, second.data?.run];
  if (one && two) return <Both one={one} two={two} />;
  const missing = [first, second].findIndex(({ problem }) => problem?.code === 'RUN_NOT_FOUND');
  if (missing !== -1) {
    const [gone, left] = missing === 0 ? [id, other] : [other, id];
    return (
      <Empty title="There is no such run">
        <p className="mono">{gone.slice(0, 64)}</p>
        <p>It was deleted, its retention is over, or it belongs to another account.</p>
        {gone !== left && <ButtonLink href={`/runs/${left}`}>Open the other run</ButtonLink>}
      </Empty>
    );
  }
  const problem = first.problem ?? second.problem;
  const retry = () => {
    first.retry();
    second.retry();
  };
  return problem ? <Failed problem={problem} onRetry={retry} /> : <RunLoading />;
}

function Both({ one, two }: { one: ShownRun; two: ShownRun }) {
  return (
    <div className="compare">
      {one.id === two.id && (
        <p className="run-notice">
          Both are the same run.{' '}
          <Link href={`/bots/${one.bot.id}/runs?compare=${one.id}`}>Choose another one</Link>
        </p>
      )}
      <RunFactTable one={one} two={two} />
      <Texts one={one} two={two} />
      <Traces one={one} two={two} />
      <Sources one={one} two={two} />
    </div>
  );
}
