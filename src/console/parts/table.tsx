import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Skeleton } from './state.tsx';
import './table.css';

const ROWS = ['a', 'b', 'c'];

/** A table body with one cell, for a state of the whole table. */
export function WholeRow({ columns, children }: { columns: number; children: ReactNode }) {
  return (
    <tbody className="table-whole">
      <tr>
        <td colSpan={columns}>{children}</td>
      </tr>
    </tbody>
  );
}

/** The last row of a list that goes on. */
export function MoreRow({ columns, onMore }: { columns: number; onMore(): void }) {
  return (
    <tr className="table-more">
      <td colSpan={columns}>
        <Button onClick={onMore}>Show more</Button>
      </td>
    </tr>
  );
}

/** Holds the place of rows that are being read. */
export function SkeletonRows({ columns, className }: { columns: number; className?: string }) {
  const others = Array.from({ length: columns - 1 }, (_, at) => at);
  return (
    <tbody aria-busy="true">
      {ROWS.map((row) => (
        <tr key={row} className={className}>
          <td>
            <Skeleton width="120px" />
            <br />
            <Skeleton width="80px" height={10} />
          </td>
          {others.map((cell) => (
            <td key={cell}>
              <Skeleton width="70%" />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
