import {
  Deploy,
  type DeployInput,
  type DeployOutcomeFragment,
  Promote,
  Rollback,
} from '../../generated/operations/console.ts';
import { useMutate } from '../server/operations.ts';
import { createStore } from '../server/store.ts';
import { useIdempotencyKey } from './use-idempotency-key.ts';

/** The answer to a deploy, a rollback or a promotion. One that failed changed nothing. */
export type DeployOutcome = DeployOutcomeFragment;

const CHANGES = ['Bot', 'Deployment'];

/** The deployments that this page made: they are no change from elsewhere. */
export const madeHere = createStore<ReadonlySet<string>>(new Set());

function made<Outcome extends { id: string }>(outcome: Outcome | null | undefined) {
  if (outcome) madeHere.set(new Set([...madeHere.get(), outcome.id]));
  return outcome ?? undefined;
}

/** Deploys on demand. If the answer is lost, the next attempt with the same input asks for it again. */
export function useDeploy(botId: string) {
  const { isBusy, problem, run } = useMutate(Deploy, CHANGES);
  const { keyFor, answered } = useIdempotencyKey();
  const deploy = async (
    input: Omit<DeployInput, 'idempotencyKey'>,
  ): Promise<DeployOutcome | undefined> => {
    const answer = await run({ botId, input: { ...input, idempotencyKey: keyFor(input) } });
    answered(answer.problem);
    return made(answer.data?.deploy);
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
      return made(answer.data?.rollback);
    }
    const answer = await promote.run({ ...variables, ...options });
    answered(answer.problem);
    return made(answer.data?.promote);
  };
  return { isBusy, problem, redeploy };
}
