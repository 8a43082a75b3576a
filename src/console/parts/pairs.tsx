import type { ReactNode } from 'react';
import './pairs.css';

/** Short facts: names and values in two columns. */
export function Pairs({ children }: { children: ReactNode }) {
  return <dl className="pairs">{children}</dl>;
}

export function Pair({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}
