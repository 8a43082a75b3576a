import { Fragment, type ReactNode, useState } from 'react';
import type { Problem } from '../server/problem.ts';
import { Button } from './button.tsx';
import { Failed, Skeleton } from './state.tsx';
import './table.css';

const ROWS = ['a', 'b', 'c'];

/**
 * The names of the columns.
 *
 * @param numbers the columns whose cells align to the right.
 * @param hasActions whether a last column has the actions on each row.
 */
export function TableHead({
  columns,
  numbers = [],
  hasActions = false,
}: {
  columns: readonly string[];
  numbers?: readonly string[];
  hasActions?: boolean;
}) {
  return (
    <thead>
      <tr>
        {columns.map((name) => (
          <th key={name} className={numbers.includes(name) ? 'right' : undefined}>
            {name}
          </th>
        ))}
        {hasActions && (
          <th>
            <span className="unseen">Actions</span>
          </th>
        )}
      </tr>
    </thead>
  );
}

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

/** Shows the page after a cursor. Absent unless the page is the last shown one. */
export type OnMore = ((cursor: string) => void) | undefined;

/** The first page of a list, and each further page that was requested. @param props.page makes the body of a page */
export function Pages({ page }: { page(after: string | null, onMore: OnMore): ReactNode }) {
  const [cursors, setCursors] = useState<(string | null)[]>([null]);
  const onMore = (cursor: string) => setCursors([...cursors, cursor]);
  return cursors.map((after, at) => (
    <Fragment key={after}>{page(after, at === cursors.length - 1 ? onMore : undefined)}</Fragment>
  ));
}

/** The last row of a list that has a further page. */
export function MoreRow({
  columns,
  pageInfo: { hasNextPage, endCursor },
  onMore,
}: {
  columns: number;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
  onMore: OnMore;
}) {
  if (!onMore || !hasNextPage || endCursor === null) return null;
  return (
    <tr className="table-more">
      <td colSpan={columns}>
        <Button onClick={() => onMore(endCursor)}>Show more</Button>
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

/** The body of a table without its data: placeholders while it loads, or the problem. */
export function MissingRows({
  columns,
  className,
  problem,
  onRetry,
}: {
  columns: number;
  className?: string;
  problem: Problem | undefined;
  onRetry(): void;
}) {
  if (!problem)
    return <SkeletonRows columns={columns} {...(className !== undefined && { className })} />;
  return (
    <WholeRow columns={columns}>
      <Failed problem={problem} onRetry={onRetry} />
    </WholeRow>
  );
}
