import { useCallback, useEffect, useRef, useState } from 'react';
import { returns } from './connection.ts';
import { askUntil } from './operations.ts';
import type { Persisted } from './persisted.ts';
import type { Problem } from './problem.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** A part of a list, as the server has it. */
export type Page<Row, Head> = {
  rows: Row[];
  /** Facts about the whole list that each page has. */
  head: Head;
  pageInfo: { hasNextPage: boolean; endCursor: string | null };
};

export type Pages<Row, Head = undefined> = {
  rows: Row[];
  /** Absent until the first page is there. */
  head: Head | undefined;
  /** Whether the first page of this list is not read yet. Rows of the previous list may show. */
  isFirst: boolean;
  isReading: boolean;
  problem: Problem | undefined;
  hasMore: boolean;
  /** How many of the last pages were not full although the list has more: pages of a search. */
  shortPages: number;
  /** Reads the next page, or again after a problem. */
  readMore(): void;
  /** Reads the list from its start, after the next page if that is being read. The rows stay until then. */
  readAgain(): void;
  /** Changes the rows that are there. */
  change(update: (rows: Row[]) => Row[]): void;
};

type State<Row, Head> = {
  rows: Row[];
  head: Head | undefined;
  /** Where the next page begins. */
  cursor: string | null;
  isFirst: boolean;
  shortPages: number;
  isReading: boolean;
  problem?: Problem | undefined;
};

/** A page that is being read. */
type Reading = {
  after: string | null;
  controller: AbortController;
  /** Whether the list is read again after this page. */
  isAgain: boolean;
};

const START = {
  rows: [],
  head: undefined,
  cursor: null,
  isFirst: true,
  shortPages: 0,
  isReading: true,
};

/**
 * Reads a list page by page, and from its start when the server or the session is back. Other variables cancel the
 * request under way.
 *
 * @param variables the query's variables without the page. Another object is another list.
 * @param toPage the page of an answer, `undefined` if it has none. It stays the same function.
 */
export function usePages<Data, Variables extends object, Row extends { id: string }, Head>(
  query: Persisted<Data, Variables & { first: number; after?: string | null }>,
  { size, variables }: { size: number; variables: Variables },
  toPage: (data: Data) => Page<Row, Head> | undefined,
): Pages<Row, Head> {
  const [state, setState] = useState<State<Row, Head>>(START);
  const reading = useRef<Reading>(undefined);
  const stop = useCallback(() => {
    reading.current?.controller.abort();
    reading.current = undefined;
  }, []);
  const read = useCallback(
    async (after: string | null): Promise<void> => {
      const { current: ended } = reading;
      stop();
      // A reading from the start, which this one ends or which was to follow, follows this one.
      const isAgain = after !== null && (ended?.after === null || ended?.isAgain === true);
      const own: Reading = { after, controller: new AbortController(), isAgain };
      reading.current = own;
      setState((before) => ({ ...before, isReading: true, problem: undefined }));
      const { signal } = own.controller;
      const answer = await askUntil(query, { ...variables, first: size, after }, signal);
      if (!answer || signal.aborted) return;
      reading.current = undefined;
      const page = answer.data && toPage(answer.data);
      if (page) setState((before) => withPage(before, page, { after, size }));
      else setState((before) => ({ ...before, isReading: false, problem: answer.problem }));
      if (own.isAgain) await read(null);
    },
    [query, size, variables, toPage, stop],
  );
  const readAgain = useCallback(() => {
    // A person asked for the next page, so that it comes first.
    if (typeof reading.current?.after === 'string') reading.current.isAgain = true;
    else void read(null);
  }, [read]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another way to read is another list
  useEffect(() => setState((before) => ({ ...before, isFirst: true })), [read]);
  const returned = useStore(returns);
  const isSignedIn = useStore(session) === 'open';
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list is read again when the server is back
  useEffect(() => {
    if (!isSignedIn) return undefined;
    readAgain();
    return stop;
  }, [readAgain, stop, returned, isSignedIn]);
  const change = useCallback(
    (update: (rows: Row[]) => Row[]) =>
      setState((before) => ({ ...before, rows: update(before.rows) })),
    [],
  );
  const { rows, head, cursor, isFirst, shortPages, isReading, problem } = state;
  return {
    rows,
    head,
    isFirst,
    isReading,
    problem,
    hasMore: cursor !== null,
    shortPages,
    readMore: () => void read(isFirst ? null : cursor),
    readAgain,
    change,
  };
}

/** Adds a page at the end; or puts the first page at the start of the list, if it overlaps the list. */
function withPage<Row extends { id: string }, Head>(
  { rows: known, cursor, isFirst, shortPages: before }: State<Row, Head>,
  { rows, head, pageInfo }: Page<Row, Head>,
  { after, size }: { after: string | null; size: number },
): State<Row, Head> {
  const next = pageInfo.hasNextPage ? pageInfo.endCursor : null;
  const isShort = next !== null && rows.length < size;
  const shortPages = isShort ? (after === null ? 1 : before + 1) : 0;
  const state = { head, isFirst: false, isReading: false, shortPages };
  if (after !== null) return { ...state, rows: joined(known, rows), cursor: next };
  const whole = joined(rows, known);
  const reaches = !isFirst && next !== null && whole.length < rows.length + known.length;
  // The list continues after its last page.
  return reaches && whole.length > rows.length
    ? { ...state, rows: whole, cursor }
    : { ...state, rows, cursor: next };
}

/** The rows of both parts, each once: a row that moves while the list is read can be in two pages. */
export function joined<Row extends { id: string }>(first: Row[], then: Row[]): Row[] {
  const ids = new Set(first.map(({ id }) => id));
  return [...first, ...then.filter(({ id }) => !ids.has(id))];
}
