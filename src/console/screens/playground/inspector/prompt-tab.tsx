import type { ReactNode } from 'react';
import { RunTrace } from '../../../../generated/operations/console.ts';
import { isOpen, type Turn } from '../../../chat/turn.ts';
import { Failed, Skeleton } from '../../../parts/state.tsx';
import { firstTokensOf } from '../../../prompt/first-tokens.ts';
import { PromptComparison } from '../../../prompt/prompt-comparison.tsx';
import { RunPrompt } from '../../../prompt/run-prompt.tsx';
import { useServerQuery } from '../../../server/operations.ts';
import { lacks, useScope } from '../../../server/viewer.ts';

/** A turn with the name of its side in a comparison. */
export type ComparedTurn = { label: string; turn: Turn | undefined; isFirst: boolean };

/** What the model was sent for a reply; in a comparison, what differs from the request of the other side. */
export function PromptTab({
  turn,
  label,
  compared,
}: {
  turn: Turn;
  /** The name of its side. */
  label: string;
  compared: ComparedTurn | undefined;
}) {
  const mayRead = useScope('RUNS');
  const { runId } = turn;
  const other = compared?.turn;
  if (!mayRead) return <Note>{lacks('RUNS')} It is needed to read prompts.</Note>;
  if (isOpen(turn) || (other && isOpen(other)))
    return <Note>The prompt is stored when the run is over.</Note>;
  if (!runId) return <Note>No run was started.</Note>;
  if (!compared || !other?.runId) return <OnePrompt runId={runId} />;
  const [one, two] = [
    { id: runId, name: label },
    { id: other.runId, name: compared.label },
  ];
  return (
    <div className="inspector-body">
      <Heading />
      {compared.isFirst ? (
        <PromptComparison left={two} right={one} />
      ) : (
        <PromptComparison left={one} right={two} />
      )}
    </div>
  );
}

function Heading() {
  return <h2 className="inspector-title">What the model was sent</h2>;
}

function Note({ children }: { children: ReactNode }) {
  return <p className="inspector-hint">{children}</p>;
}

function OnePrompt({ runId }: { runId: string }) {
  const { data, problem, retry } = useServerQuery(RunTrace, { id: runId });
  const run = data?.run;
  if (problem) return <Failed problem={problem} onRetry={retry} />;
  return (
    <div className="inspector-body">
      <Heading />
      {run ? (
        <RunPrompt run={run} tokens={firstTokensOf(run)} />
      ) : (
        <div aria-busy="true">
          <Skeleton height={140} />
        </div>
      )}
    </div>
  );
}
