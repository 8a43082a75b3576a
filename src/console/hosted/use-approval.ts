import { useEffect, useRef, useState } from 'react';
import { VisitChanged, VisitWaits } from '../../generated/operations/console.ts';
import { followAlways } from '../server/follow.ts';
import type { Visit } from './visit.ts';

/**
 * Whether a tool call of the conversation waits for the approval of a person. While it does, the server is followed.
 *
 * @param onOutcome called when the conversation may have a message that nobody requested here.
 */
export function useApproval(bot: string, visit: Visit, onOutcome: () => void) {
  const [waitingIn, setWaitingIn] = useState<string>();
  const outcome = useRef(onOutcome);
  outcome.current = onOutcome;

  useEffect(() => {
    if (waitingIn === undefined) return undefined;
    const aborter = new AbortController();
    const { signal } = aborter;
    // The outcome may have come before the server followed.
    const onConnected = () =>
      void waitingSession(bot, visit).then(
        (session) => {
          if (session === undefined && !signal.aborted) outcome.current();
        },
        () => {},
      );
    const variables = { botId: bot, sessionId: waitingIn };
    const reading = { signal, access: visit, onConnected };
    void followAlways(VisitChanged, variables, reading, () => outcome.current());
    return () => aborter.abort();
  }, [bot, visit, waitingIn]);

  return {
    isWaiting: waitingIn !== undefined,
    setWaitingIn,
    /** Asks the server whether a call waits, after a reply with tools. A failure leaves the state as it is. */
    check: () => waitingSession(bot, visit).then(setWaitingIn, () => {}),
  };
}

/** The session whose call waits, if there is one. @throws ChatProblem */
async function waitingSession(bot: string, visit: Visit): Promise<string | undefined> {
  const { bot: found } = await visit.ask(VisitWaits, { botId: bot });
  return found?.session?.waitsForApproval ? found.session.sessionId : undefined;
}
