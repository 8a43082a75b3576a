import { DeploymentSource } from '../../../generated/operations/console.ts';
import { TextDiffView } from '../../diff/text-diff-view.tsx';
import { Button } from '../../parts/button.tsx';
import { Refused } from '../../parts/state.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { ShownRun } from '../run/use-run.ts';

/** Whether the definitions that answered differ, and in what. */
export function Sources({ one, two }: { one: ShownRun; two: ShownRun }) {
  const mayRead = useScope('DEPLOY');
  const [before, after] = [one.deployment?.id, two.deployment?.id];
  if (!before || !after) return <Note>A run without a deployment has no stored definition.</Note>;
  if (before === after) return <Note>The same deployment answered both.</Note>;
  if (!mayRead)
    return (
      <Note>Two deployments answered. {lacks('DEPLOY')} So their definitions do not show.</Note>
    );
  return <ReadSources before={before} after={after} />;
}

function ReadSources({ before, after }: { before: string; after: string }) {
  const first = useServerQuery(DeploymentSource, { id: before });
  const second = useServerQuery(DeploymentSource, { id: after });
  const [one, two] = [sourceOf(first.data), sourceOf(second.data)];
  const problem = first.problem ?? second.problem;
  if (problem)
    return (
      <div className="compare-text">
        <Refused problem={problem} />
        <Button
          onClick={() => {
            first.retry();
            second.retry();
          }}
        >
          Try again
        </Button>
      </div>
    );
  if (one === undefined || two === undefined)
    return (
      <Note>{first.data && second.data ? 'A definition is no longer stored.' : 'Reading…'}</Note>
    );
  if (one === two) return <Note>Two deployments of the same definition answered.</Note>;
  return (
    <TextDiffView
      label="Definition"
      before={one}
      after={two}
      beforeName="first run"
      afterName="second run"
    />
  );
}

function sourceOf(data: { node: { __typename?: string; source?: string } | null } | undefined) {
  return data?.node?.source;
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <section className="run-text" aria-label="Definition">
      <header>
        <h2>Definition</h2>
      </header>
      <p className="faint run-note">{children}</p>
    </section>
  );
}
