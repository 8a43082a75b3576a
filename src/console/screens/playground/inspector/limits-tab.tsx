import { useEffect, useState } from 'react';
import { Limits, type LimitsQuery } from '../../../../generated/operations/console.ts';
import { isOpen, type Turn } from '../../../chat/turn.ts';
import { Button } from '../../../parts/button.tsx';
import { Meter } from '../../../parts/meter.tsx';
import { Failed, Skeleton } from '../../../parts/state.tsx';
import { ShortTime } from '../../../parts/time.tsx';
import { useNow } from '../../../parts/use-now.ts';
import { serverNow } from '../../../server/clock.ts';
import { ask } from '../../../server/operations.ts';
import type { Problem } from '../../../server/problem.ts';

type RateLimit = LimitsQuery['viewer']['rateLimit'];

/** The remaining requests of the account, read again after each reply. */
export function LimitsTab({ turn }: { turn: Turn | undefined }) {
  const { limits, problem, read } = useLimits(turn);
  if (problem) return <Failed problem={problem} onRetry={read} />;
  if (!limits)
    return (
      <div className="inspector-body" aria-busy="true">
        <Skeleton height={72} />
      </div>
    );
  const { perMinute, perDay, remainingMinute, remainingDay, resetAt } = limits;
  return (
    <div className="inspector-body">
      <Meter label="Requests this minute" used={perMinute - remainingMinute} limit={perMinute} />
      <Meter label="Requests today (UTC)" used={perDay - remainingDay} limit={perDay} />
      <Reset at={resetAt} />
      <p className="faint">
        Each message counts 1, and so does each reading of these figures and of a trace. The headers
        of a REST response carry the same figures.
      </p>
      <div>
        <Button icon="repeat" onClick={read}>
          Read again
        </Button>
      </div>
    </div>
  );
}

/** When the window with fewer requests left ends. */
function Reset({ at }: { at: string }) {
  const now = useNow(serverNow, 1_000);
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - now) / 1_000));
  return (
    <p className="number">
      {seconds > 0
        ? `The window resets in ${seconds.toLocaleString('en')} s`
        : 'The window has reset'}
      , at <ShortTime at={at} />.
    </p>
  );
}

function useLimits(turn: Turn | undefined) {
  const [state, setState] = useState<{ limits?: RateLimit; problem?: Problem | undefined }>({});
  const [readings, setReadings] = useState(0);
  const [finished, setFinished] = useState<string>();
  if (turn && !isOpen(turn) && turn.id !== finished) setFinished(turn.id);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a finished reply is a reason to read again
  useEffect(() => {
    let isCurrent = true;
    void ask(Limits, {}).then(({ data, problem }) => {
      if (isCurrent) setState({ ...(data && { limits: data.viewer.rateLimit }), problem });
    });
    return () => {
      isCurrent = false;
    };
  }, [finished, readings]);
  return { ...state, read: () => setReadings((count) => count + 1) };
}
