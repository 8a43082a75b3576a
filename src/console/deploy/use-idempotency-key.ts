import { useRef } from 'react';
import { randomId } from '../random-id.ts';
import type { Problem } from '../server/problem.ts';

/**
 * Gives each request a separate key, and the same request the same key again while its answer is unknown, so that
 * nothing is done twice.
 */
export function useIdempotencyKey() {
  const unanswered = useRef<{ request: string; key: string }>(undefined);
  return {
    keyFor(variables: object): string {
      const request = JSON.stringify(variables);
      if (unanswered.current?.request !== request)
        unanswered.current = { request, key: randomId() };
      return unanswered.current.key;
    },
    /** Notes the answer to the last request. */
    answered(problem: Problem | undefined): void {
      if (problem?.code !== 'AWAY') unanswered.current = undefined;
    },
  };
}
