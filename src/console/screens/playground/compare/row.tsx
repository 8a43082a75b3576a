import type { ReactNode } from 'react';
import type { SideName } from './use-side-chat.ts';

/** The names of the sides, and which of them show. */
export type ShownSides = { names: Record<SideName, string>; shown: readonly SideName[] };

/** The cells of both sides, with their difference between them. */
export function Row({
  names,
  shown,
  left,
  middle,
  right,
  differs = false,
}: ShownSides & {
  left: ReactNode;
  middle: ReactNode;
  right: ReactNode;
  differs?: boolean;
}) {
  const cell = (at: SideName, content: ReactNode) =>
    shown.includes(at) && (
      <div className="compare-cell">
        <span className="unseen">{names[at]}: </span>
        {content || <span className="faint">nothing</span>}
      </div>
    );
  return (
    <div className={differs ? 'compare-row compare-row-differs' : 'compare-row'}>
      {cell('left', left)}
      <div className="compare-middle">{middle}</div>
      {cell('right', right)}
    </div>
  );
}

/** How the cells of a row differ: a sign and words. */
export function Difference({ sign, children }: { sign: '=' | '≠'; children: ReactNode }) {
  return (
    <>
      <b aria-hidden="true">{sign}</b>
      <span>{children}</span>
    </>
  );
}
