import { useEffect, useState } from 'react';
import {
  CheckDeploy,
  type CheckDeployQuery,
  type DeployInput,
} from '../../generated/operations/console.ts';
import { returns } from '../server/connection.ts';
import { type Answer, askUntil } from '../server/operations.ts';
import type { Problem } from '../server/problem.ts';
import { session } from '../server/session.ts';
import { useStore } from '../server/store.ts';
import { useDebounced } from '../server/use-debounced.ts';

type Check = CheckDeployQuery['check'];

/** The server's check of a deploy. */
export type DeployCheck = {
  /** The last answer, also while the next one is awaited. Absent before the first one. */
  check: Check | undefined;
  /** Whether the answer is about the input of now. */
  isCurrent: boolean;
  /** Whether the answer about the input of now is awaited. */
  isAwaited: boolean;
  /** Why the input of now could not be checked. */
  problem: Problem | undefined;
};

/**
 * Asks the server at each pause in typing what a deploy would answer, and again if another deployment becomes active.
 *
 * @param input the input of the deploy. Absent: nothing is asked.
 * @param runningId the id of the deployment that runs.
 */
export function useDeployCheck(
  botId: string,
  input: DeployInput | undefined,
  runningId: string | undefined,
): DeployCheck {
  const returned = useStore(returns);
  const isOpen = useStore(session) === 'open';
  const now = input ? JSON.stringify({ botId, input }) : '';
  const asked = useDebounced(now);
  const [answered, setAnswered] = useState<{ asked: string; answer: Answer<CheckDeployQuery> }>();
  const [check, setCheck] = useState<Check>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another deployment and the server's return are reasons too
  useEffect(() => {
    if (asked === '' || !isOpen) return undefined;
    const controller = new AbortController();
    void askUntil(CheckDeploy, JSON.parse(asked), controller.signal).then((answer) => {
      if (!answer) return;
      setAnswered({ asked, answer });
      if (answer.data) setCheck(answer.data.check);
    });
    return () => controller.abort();
  }, [asked, isOpen, runningId, returned]);
  const isAnswered = answered?.asked === now;
  const problem = isAnswered ? answered.answer.problem : undefined;
  return {
    check: input && check,
    isCurrent: isAnswered && !problem,
    isAwaited: now !== '' && !isAnswered,
    problem,
  };
}
