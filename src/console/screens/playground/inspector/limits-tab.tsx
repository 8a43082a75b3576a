import { useEffect, useState } from 'react';
import { Limits, type LimitsQuery } from '../../../../operations/console/operations.ts';
import { isOpen, type Turn } from '../../../chat/turn.ts';
import { Button } from '../../../parts/button.tsx';
import { Failed, Skeleton } from '../../../parts/state.tsx';
import { ask } from '../../../server/operations.ts';
import type { Problem } from '../../../server/problem.ts';

type RateLimit = LimitsQuery['viewer']['rateLimit'];

/** What is left of the account's request limits, read again after each reply. */
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
      <Limit label="This minute" left={remainingMinute} of={perMinute} />
      <Limit label="This day (UTC)" left={remainingDay} of={perDay} />
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

function Limit({ label, left, of }: { label: string; left: number; of: number }) {
  const share = of === 0 ? 0 : left / of;
  return (
    <div className="limit">
      <span>{label}</span>
      <span className="number">
        <strong>{left.toLocaleString('en')}</strong> of {of.toLocaleString('en')} left
      </span>
      <span className="limit-track" aria-hidden="true">
        <span
          className={share < 0.1 ? 'limit-bar limit-low' : 'limit-bar'}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </div>
  );
}

/** When the window with fewer requests left ends. */
function Reset({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  const seconds = Math.max(0, Math.ceil((Date.parse(at) - now) / 1_000));
  return (
    <p className="number">
      {seconds > 0
        ? `The window resets in ${seconds.toLocaleString('en')} s`
        : 'The window has reset'}
      , at <time dateTime={at}>{at.slice(11, 19)} UTC</time>.
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
