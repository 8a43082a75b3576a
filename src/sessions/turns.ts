import { GatewayError } from '../errors.ts';
import type { SessionRef } from './history.ts';

const MAX_WAITING = 16;
const MAX_WAIT_MS = 60_000;

/** Gives a turn back. The next in line has it at once. */
export type ReleaseTurn = () => void;

/** Lets the turns of one session go one at a time, in arrival order. Sessions do not wait for each other. */
export type Turns = {
  /**
   * Waits for the session's turn.
   *
   * @param session what `turnName` answers.
   * @throws GatewayError `session_busy` when 16 wait already or 60 seconds have passed; the signal's reason
   *   when the caller goes.
   */
  take(session: string, signal: AbortSignal): Promise<ReleaseTurn>;
};

/** What names a session among all of them. */
export function turnName({ botId, environment, sessionId }: SessionRef): string {
  return JSON.stringify([botId, environment, sessionId]);
}

/** Turns kept by this process. */
export function createTurns(): Turns {
  /** The sessions that are taken, each with those who wait, first come first. */
  const lines = new Map<string, Array<() => void>>();

  const release = (session: string) => {
    const next = lines.get(session)?.shift();
    if (next) next();
    else lines.delete(session);
  };

  return {
    async take(session, signal) {
      signal.throwIfAborted();
      const line = lines.get(session);
      if (line === undefined) lines.set(session, []);
      else if (line.length >= MAX_WAITING) throw busy(`${MAX_WAITING} messages wait already`);
      else await wait(line, signal);
      let released = false;
      return () => {
        if (!released) release(session);
        released = true;
      };
    },
  };
}

function wait(line: Array<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const leave = (error: unknown) => {
      line.splice(line.indexOf(enter), 1);
      clear();
      reject(error);
    };
    const enter = () => {
      clear();
      resolve();
    };
    const onAbort = () => leave(signal.reason);
    const timer = setTimeout(
      () => leave(busy(`it was not free within ${MAX_WAIT_MS / 1000} seconds`)),
      MAX_WAIT_MS,
    );
    const clear = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    };
    signal.addEventListener('abort', onAbort);
    line.push(enter);
  });
}

function busy(why: string): GatewayError {
  return new GatewayError('session_busy', `The session is busy with another message: ${why}.`);
}
