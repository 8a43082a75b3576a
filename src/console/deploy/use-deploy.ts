import {
  Deploy,
  type DeployInput,
  type DeployOutcomeFragment,
  Promote,
  Rollback,
} from '../../generated/operations/console.ts';
import { useMutate } from '../server/operations.ts';
import { useIdempotencyKey } from './use-idempotency-key.ts';

/** The answer to a deploy, a rollback or a promotion. One that failed changed nothing. */
export type DeployOutcome = DeployOutcomeFragment;

const CHANGES = ['Bot', 'Deployment'];

/** Deploys on demand. If the answer is lost, the next attempt with the same input asks for it again. */
export function useDeploy(botId: string) {
  const { isBusy, problem, run } = useMutate(Deploy, CHANGES);
  const { keyFor, answered } = useIdempotencyKey();
  const deploy = async (
    input: Omit<DeployInput, 'idempotencyKey'>,
  ): Promise<DeployOutcome | undefined> => {
    const answer = await run({ botId, input: { ...input, idempotencyKey: keyFor(input) } });
    answered(answer.problem);
    return answer.data?.deploy ?? undefined;
  };
  return { isBusy, problem, deploy };
}

/** Rolls back to an earlier deployment, or promotes one of staging, on demand. Like `useDeploy`, it never does so twice. */
export function useRedeploy(botId: string, kind: 'rollback' | 'promote') {
  const rollback = useMutate(Rollback, CHANGES);
  const promote = useMutate(Promote, CHANGES);
  const { keyFor, answered } = useIdempotencyKey();
  const { isBusy, problem } = kind === 'rollback' ? rollback : promote;
  const redeploy = async (
    deploymentId: string,
    { message, skipGate }: { message: string | null; skipGate: boolean },
  ): Promise<DeployOutcome | undefined> => {
    const request = { botId, deploymentId, message };
    const options = skipGate ? { skipGate } : {};
    const idempotencyKey = keyFor({ kind, ...request, ...options });
    const variables = { ...request, idempotencyKey };
    if (kind === 'rollback') {
      const answer = await rollback.run(variables);
      answered(answer.problem);
      return answer.data?.rollback ?? undefined;
    }
    const answer = await promote.run({ ...variables, ...options });
    answered(answer.problem);
    return answer.data?.promote ?? undefined;
  };
  return { isBusy, problem, redeploy };
}
