import type { ReactNode } from 'react';
import type { Problem } from '../server/problem.ts';
import { Button } from './button.tsx';
import { Id } from './copy.tsx';
import { Icon } from './icon.tsx';
import './state.css';

/** Stands where data would stand, and says what to do next. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="state">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** Stands where data would stand if reading it failed. */
export function Failed({ problem, onRetry }: { problem: Problem; onRetry(): void }) {
  return (
    <div className="state" role="alert">
      <span className="state-icon">
        <Icon name="warning" size={20} />
      </span>
      <h2>{problem.message}</h2>
      <Button onClick={onRetry}>Try again</Button>
      {problem.requestId && (
        <p className="state-request">
          Request <Id>{problem.requestId}</Id>
        </p>
      )}
    </div>
  );
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
