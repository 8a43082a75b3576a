import { type ReactNode, useEffect, useState } from 'react';
import { isMissingBot, type Problem } from '../server/problem.ts';
import { Button, ButtonLink } from './button.tsx';
import { Id } from './copy.tsx';
import { Icon } from './icon.tsx';
import './state.css';

/** Shown in place of missing data, with the next step. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Replaces a screen whose bot is missing, and links to the bots that exist. */
export function NoBot() {
  return (
    <Empty title="There is no such bot">
      <p role="alert">
        It was deleted, it belongs to another account, or your key is limited to other bots.
      </p>
      <ButtonLink href="/bots">Go to your bots</ButtonLink>
    </Empty>
  );
}

/** Shown in place of data that could not be read. Counts down the seconds until a retry may help. */
export function Failed({ problem, onRetry }: { problem: Problem; onRetry(): void }) {
  const seconds = useSecondsLeft(problem);
  if (isMissingBot(problem)) return <NoBot />;
  return (
    <div className="state">
      <span className="state-icon">
        <Icon name="warning" size={20} />
      </span>
      <div role="alert">
        <h2>{problem.message}</h2>
      </div>
      <Button
        onClick={onRetry}
        unavailable={seconds > 0 && 'The server refuses requests until then.'}
      >
        <span className="number">{seconds > 0 ? `Try again in ${seconds} s` : 'Try again'}</span>
      </Button>
      {problem.requestId && (
        <p className="state-request">
          Request <Id>{problem.requestId}</Id>
        </p>
      )}
    </div>
  );
}

/** Counts down the seconds until a problem may be over. */
export function useSecondsLeft(problem: Problem): number {
  const wait = problem.retryAfter ?? 0;
  const [left, setLeft] = useState(wait);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the next problem counts from its start
  useEffect(() => {
    const until = performance.now() + wait * 1_000;
    setLeft(wait);
    if (wait === 0) return undefined;
    const timer = setInterval(() => {
      const seconds = Math.max(0, Math.ceil((until - performance.now()) / 1_000));
      setLeft(seconds);
      if (seconds === 0) clearInterval(timer);
    }, 1_000);
    return () => clearInterval(timer);
  }, [problem]);
  return left;
}

/** Says beside a form why it failed. */
export function Refused({ problem }: { problem: Problem | undefined }) {
  if (!problem) return null;
  return (
    <p className="refused" role="alert">
      {problem.message}
      {problem.requestId && <span className="mono"> {problem.requestId}</span>}
    </p>
  );
}

/** Holds the place of data that is being read. */
export function Skeleton({ width = '100%', height = 14 }: { width?: string; height?: number }) {
  return <span className="skeleton" style={{ width, height }} />;
}
