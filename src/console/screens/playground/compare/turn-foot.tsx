import { Link } from 'wouter';
import { isOpen, type Turn, textOf } from '../../../chat/turn.ts';
import { stateOf } from '../../../chat/turn-view.tsx';
import { TurnRating } from '../../../feedback/turn-rating.tsx';
import { useMayRate } from '../../../feedback/use-rating.ts';
import { IconButton } from '../../../parts/button.tsx';
import { CopyButton } from '../../../parts/copy.tsx';
import { Status } from '../../../parts/status.tsx';
import { useScope } from '../../../server/viewer.ts';
import type { SideName } from './use-side-chat.ts';

/** The state of a reply, its run, and the actions on it. */
export function TurnFoot({
  at,
  turn,
  isInspected,
  onInspect,
}: {
  at: SideName;
  turn: Turn;
  isInspected: boolean;
  onInspect(at: SideName, turn: Turn): void;
}) {
  const mayRate = useMayRate();
  const mayRead = useScope('RUNS');
  const { word, icon, tone } = stateOf(turn);
  const text = textOf(turn);
  return (
    <div className="compare-foot">
      <Status icon={icon} tone={tone}>
        {word}
      </Status>
      {turn.runId && mayRead && (
        <Link className="turn-run" href={`/runs/${turn.runId}`}>
          run
        </Link>
      )}
      <span className="compare-actions">
        {turn.runId && mayRate && !isOpen(turn) && (
          <TurnRating runId={turn.runId} feedback={turn.feedback ?? []} />
        )}
        {text && <CopyButton label="Copy the reply" text={text} />}
        <IconButton
          label="Inspect"
          icon="panel"
          aria-pressed={isInspected}
          onClick={() => onInspect(at, turn)}
        />
      </span>
    </div>
  );
}
