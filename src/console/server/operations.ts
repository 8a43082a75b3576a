import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type CombinedError, type OperationResult, useQuery } from 'urql';
import { client } from './client.ts';
import { returns } from './connection.ts';
import type { Persisted } from './persisted.ts';
import { type Problem, problemOf } from './problem.ts';
import { session } from './session.ts';
import { useStore } from './store.ts';

/** The state of a query. Data stays while it is read again. */
export type Query<Data> = {
  data: Data | undefined;
  problem: Problem | undefined;
  isLoading: boolean;
  /** Reads again from the server. */
  retry(): void;
};

/** Runs a query, and again when the server or the session is back. */
export function useServerQuery<Data, Variables extends object>(
  query: Persisted<Data, Variables>,
  variables: Variables,
  { pause = false }: { pause?: boolean } = {},
): Query<Data> {
  const [{ data, error, fetching, stale }, execute] = useQuery<Data, Variables>({
    query,
    variables,
    pause,
    requestPolicy: 'cache-and-network',
  });
  const retry = useCallback(() => execute({ requestPolicy: 'network-only' }), [execute]);
  const returned = useStore(returns);
  const state = useStore(session);
  const before = useRef({ returned, state });
  const hasFailed = error !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a failure alone is no reason to try again
  useEffect(() => {
    const wasClosed = ['none', 'ended', 'blocked'].includes(before.current.state);
    const isBack = returned !== before.current.returned || (wasClosed && state === 'open');
    before.current = { returned, state };
    if (isBack && !pause && hasFailed) retry();
  }, [returned, state]);
  const problem = useMemo(() => error && problemOf(error), [error]);
  return { data, problem, isLoading: fetching || stale, retry };
}

/** The answer to a mutation or to a single query. */
export type Answer<Data> =
  | { data: Data; problem?: undefined }
  | { data?: undefined; problem: Problem };

/**
 * Runs a mutation once.
 *
 * @param changes the types whose queries must be read again, besides the types of the answer.
 */
export async function mutate<Data, Variables extends object>(
  mutation: Persisted<Data, Variables>,
  variables: Variables,
  changes: string[] = [],
): Promise<Answer<Data>> {
  const context = { additionalTypenames: changes };
  return answerOf(await client.mutation<Data, Variables>(mutation, variables, context).toPromise());
}

/** Runs a query once, past the cache. */
export async function ask<Data, Variables extends object>(
  query: Persisted<Data, Variables>,
  variables: Variables,
): Promise<Answer<Data>> {
  const options = { requestPolicy: 'network-only' } as const;
  return answerOf(await client.query<Data, Variables>(query, variables, options).toPromise());
}

/**
 * Runs a query once, past the cache. The signal cancels the request.
 *
 * @returns `undefined` if the signal was aborted before the answer.
 */
export async function askUntil<Data, Variables extends object>(
  query: Persisted<Data, Variables>,
  variables: Variables,
  signal: AbortSignal,
): Promise<Answer<Data> | undefined> {
  const { promise, resolve } = Promise.withResolvers<OperationResult<Data> | undefined>();
  const cancel = () => resolve(undefined);
  signal.addEventListener('abort', cancel, { once: true });
  const { unsubscribe } = client
    .query<Data, Variables>(query, variables, { requestPolicy: 'network-only' })
    .subscribe((result) => {
      if (!result.stale) resolve(result);
    });
  if (signal.aborted) cancel();
  try {
    const result = await promise;
    return result && answerOf(result);
  } finally {
    signal.removeEventListener('abort', cancel);
    unsubscribe();
  }
}

/** Runs a mutation on demand, with its state. @param changes as for `mutate`. */
export function useMutate<Data, Variables extends object>(
  mutation: Persisted<Data, Variables>,
  changes: string[] = [],
) {
  const [state, setState] = useState<{ isBusy: boolean; problem?: Problem | undefined }>({
    isBusy: false,
  });
  const run = async (variables: Variables) => {
    setState({ isBusy: true });
    const answer = await mutate(mutation, variables, changes);
    setState({ isBusy: false, problem: answer.problem });
    return answer;
  };
  return { ...state, run };
}

function answerOf<Data>({
  data,
  error,
}: {
  data?: Data | undefined;
  error?: CombinedError | undefined;
}): Answer<Data> {
  if (error) return { problem: problemOf(error) };
  if (data == null) throw new Error('The answer has neither data nor an error.');
  return { data };
}
