import type {
  AttemptTurnFragment,
  CallChange,
  ChangedCallFragment,
  RunComparisonFragment,
} from '../../generated/operations/console.ts';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import { each } from '../parts/each.ts';
import { Pair, Pairs } from '../parts/pairs.tsx';
import { Status } from '../parts/status.tsx';
import { duration } from '../parts/time.tsx';
import { OUTCOMES } from './labels.ts';

/** A replay beside its recorded run: the replies, the calls, the feedback on the recorded reply, tokens and time. */
export function ComparisonDetails({
  comparison: { outcome, reason, callChanges, recorded, feedback },
  turn,
}: {
  comparison: RunComparisonFragment;
  /** The turn of the replay. Absent if it did not begin. */
  turn: AttemptTurnFragment | undefined;
}) {
  const label = outcome && OUTCOMES[outcome];
  return (
    <section className="comparison" aria-label="Comparison with the recorded run">
      <p className="comparison-outcome">
        {label && (
          <Status icon={label.icon} tone={label.tone}>
            {label.word}
          </Status>
        )}
        {reason !== null && <span dir="auto">{reason}</span>}
      </p>
      {recorded.error !== null && (
        <p className="attempt-error" dir="auto">
          The recorded run failed: {recorded.error}
        </p>
      )}
      <TextDiffView
        label="Reply"
        before={recorded.reply}
        after={turn?.reply ?? ''}
        beforeName="recorded"
        afterName="new"
      />
      {callChanges.length > 0 && (
        <ul className="comparison-calls" aria-label="Changed tool calls">
          {each(callChanges, (change) => (
            <li>
              <ChangedCall change={change} />
            </li>
          ))}
        </ul>
      )}
      <Pairs>
        {each(feedback, ({ rating, note }, at) => (
          <Pair name={`Feedback ${at + 1}`}>
            {rating === 'UP' ? 'good' : 'bad'}
            {note !== null && <span dir="auto"> · {note}</span>}
          </Pair>
        ))}
        <Pair name="Tokens">
          {tokensOf(recorded)} recorded, {turn ? tokensOf(turn) : 0} new
        </Pair>
        <Pair name="Model latency">
          {duration(recorded.latencyMs)} recorded, {duration(turn?.latencyMs ?? 0)} new
        </Pair>
      </Pairs>
    </section>
  );
}

function tokensOf({
  promptTokens,
  completionTokens,
}: {
  promptTokens: number;
  completionTokens: number;
}): string {
  return (promptTokens + completionTokens).toLocaleString('en');
}

const CHANGES: Record<CallChange, string> = {
  ADDED: 'Added call',
  MISSING: 'Missing call',
  CHANGED: 'Changed call',
};

function ChangedCall({
  change: { change, name, recordedArguments, arguments: input },
}: {
  change: ChangedCallFragment;
}) {
  return (
    <>
      {CHANGES[change]} <span className="mono">{name}</span>
      {recordedArguments !== null && (
        <span className="comparison-input mono">
          <span className="faint">recorded</span> {recordedArguments}
        </span>
      )}
      {input !== null && (
        <span className="comparison-input mono">
          <span className="faint">new</span> {input}
        </span>
      )}
    </>
  );
}
