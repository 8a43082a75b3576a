import { useDeferredValue, useState } from 'react';
import type { Environment } from '../../operations/console/operations.ts';
import { toast } from '../parts/toast.tsx';
import { useScope } from '../server/viewer.ts';
import { type DeployOutcome, useDeploy } from './use-deploy.ts';
import { useDeployCheck } from './use-deploy-check.ts';
import { useRunning } from './use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from './variable-draft.ts';
import { ENVIRONMENT_NAMES, versionName } from './version.ts';

const NO_NAMES: readonly string[] = [];

/** The state of a deploy: the active deployment, the input, the changes, and the outcome of the last deploy. */
export function useDeployForm({
  botId,
  source,
  environment,
  onDeployed,
}: {
  botId: string;
  source: string;
  environment: Environment;
  onDeployed?: ((outcome: DeployOutcome) => void) | undefined;
}) {
  const [draft, setDraft] = useState(NO_VARIABLES);
  const [message, setMessage] = useState('');
  const [isConfirming, setConfirming] = useState(false);
  const [result, setResult] = useState<{ outcome: DeployOutcome; isSurprise: boolean }>();
  const reading = useRunning(botId, environment);
  const { running, know } = reading;
  const { isBusy, problem, deploy } = useDeploy(botId);
  // Typing does not wait for the difference.
  const shown = useDeferredValue(source);
  const before = running?.envNames ?? [];
  // The answer of the server names the variables of the source, which the next request needs.
  const [used, setUsed] = useState(NO_NAMES);
  const fields = variableFields(used, before, draft);
  const changes = changesIn(fields);
  const input = {
    source,
    environment,
    envVars: changes.set.map((name) => ({ name, value: draft.values[name] ?? '' })),
    unsetEnvVars: changes.unset,
  };
  const mayCheck = useScope('DEPLOY') && reading.bot !== undefined && source.trim() !== '';
  const { check, ...checked } = useDeployCheck(botId, mayCheck ? input : undefined, running?.id);
  const named = check?.envNames ?? NO_NAMES;
  if (named !== used) setUsed(named);

  const submit = async () => {
    const outcome = await deploy({ ...input, message: message.trim() || null });
    if (!outcome) return;
    setConfirming(false);
    setResult({ outcome, isSurprise: outcome.previous?.id !== running?.id });
    if (outcome.status === 'FAILED') return;
    know(outcome.id);
    setDraft(NO_VARIABLES);
    setMessage('');
    toast(`Deployed ${versionName(outcome)} to ${ENVIRONMENT_NAMES[environment]}.`);
    onDeployed?.(outcome);
  };

  return {
    reading,
    shown,
    draft,
    setDraft,
    message,
    setMessage,
    fields,
    findings: check?.diagnostics ?? [],
    hasErrors: checked.isCurrent && check?.deployable === false,
    isChecking: checked.isAwaited,
    checkProblem: checked.problem,
    before,
    changes,
    result,
    isConfirming,
    setConfirming,
    isBusy,
    problem,
    submit,
  };
}
