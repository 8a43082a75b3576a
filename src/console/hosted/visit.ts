import { ChatProblem } from '../server/chat-problem.ts';
import type { Access } from '../server/event-request.ts';
import type { Persisted } from '../server/persisted.ts';
import { isSessionEnd, type Problem, problemFrom } from '../server/problem.ts';
import type { Embedding } from './embedding.ts';
import { createStoredConversation, type StoredConversation } from './stored-conversation.ts';

/** A visitor's access to a session of the bot. */
export type Visit = Access & {
  /** Whether the page around the widget names the user, whose session then never changes. */
  isOfKnownUser: boolean;
  kept: StoredConversation;
  /** Whether an earlier conversation can be read. */
  hasHistory(): boolean;
  /** Runs a query or a mutation. If the server refuses the token, runs it again with another one. @throws ChatProblem */
  ask<Data, Variables>(operation: Persisted<Data, Variables>, variables: Variables): Promise<Data>;
};

/** Tokens work for an hour. The browser's clock may be wrong, so the age counts. */
const RENEW_AFTER_MS = 55 * 60_000;
/**
 * The owner of the bot decides how long a known user's tokens work. They are encrypted, so the page cannot read their
 * expiry: it learns of an earlier one when the server refuses the token.
 */
const ASK_AGAIN_AFTER_MS = 4 * 60_000;
const REQUEST_LIMIT_MS = 30_000;

export function createVisit(bot: string, embedding: Embedding): Visit {
  const kept = createStoredConversation(bot, embedding);
  const isOfKnownUser = embedding.hasTokens;
  let current: { token: Promise<string>; until: number } | undefined;

  const post = (resume: string | undefined) =>
    fetch(`/chat/${bot}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ resume }),
      signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
    });

  const beginVisit = async (): Promise<string> => {
    const resume = kept.resume();
    let answer = await post(resume);
    // The earlier session cannot be continued, for example because the server has another secret key.
    if (answer.status === 400 && resume !== undefined) answer = await post(undefined);
    if (!answer.ok) throw new ChatProblem(await problemFrom(answer));
    const visit: { token: string; resume: string } = await answer.json();
    kept.setResume(visit.resume);
    return visit.token;
  };

  /** Two tabs that begin at the same time get one session. */
  const begin = async (): Promise<string> => {
    const release = await acquireLock(`parley:chat:${bot}`);
    try {
      return await beginVisit();
    } finally {
      release();
    }
  };

  const token = (): Promise<string> => {
    if (current && performance.now() < current.until) return current.token;
    const lifetime = isOfKnownUser ? ASK_AGAIN_AFTER_MS : RENEW_AFTER_MS;
    const next = {
      token: isOfKnownUser ? requestToken(embedding) : begin(),
      until: performance.now() + lifetime,
    };
    current = next;
    next.token.catch(() => {
      if (current === next) current = undefined;
    });
    return next.token;
  };

  const headers = async () => ({ Authorization: `Bearer ${await token()}` });
  const renew = () => {
    current = undefined;
  };

  return {
    isOfKnownUser,
    kept,
    hasHistory: () => isOfKnownUser || kept.resume() !== undefined,
    headers,
    renew,

    async ask({ documentId }, variables) {
      const send = async () => {
        const response = await fetch('/graphql', {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...(await headers()) },
          body: JSON.stringify({ documentId, variables }),
          signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
        });
        const { data, errors } = await response.clone().json();
        if (errors || !response.ok) throw new ChatProblem(await problemFrom(response));
        return data;
      };
      try {
        return await send();
      } catch (error) {
        if (!(error instanceof ChatProblem && isSessionEnd(error.problem))) throw error;
        renew();
        return send();
      }
    },
  };
}

/**
 * Acquires a lock that the tabs of a browser share. Browsers have locks on secure pages only, and may refuse them in a
 * frame of another site: then nothing is locked.
 *
 * @returns a function that releases the lock.
 */
function acquireLock(name: string): Promise<() => void> {
  return new Promise((acquired) => {
    const hold = () => new Promise<void>((release) => acquired(release));
    const none = () => acquired(() => {});
    if (navigator.locks) navigator.locks.request(name, hold).catch(none);
    else none();
  });
}

async function requestToken(embedding: Embedding): Promise<string> {
  try {
    return await embedding.requestToken();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    const problem: Problem = { code: 'NO_TOKEN', message, details: [] };
    throw new ChatProblem(problem, { cause });
  }
}
