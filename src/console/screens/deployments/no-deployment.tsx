import type { ReactNode } from 'react';
import { Empty } from '../../parts/state.tsx';

/** Replaces a deployment that the bot does not have. */
export function NoDeployment({ id, children }: { id: string; children?: ReactNode }) {
  return (
    <Empty title="This bot has no such deployment">
      <p className="mono">{id.slice(0, 64)}</p>
      <p>It was deleted with its bot, or it belongs to another bot.</p>
      {children}
    </Empty>
  );
}
