import { useDeferredValue, useState } from 'react';
import type { Environment } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { toast } from '../parts/toast.tsx';
import { useScope } from '../server/viewer.ts';
import { type DeployOutcome, useDeploy } from './use-deploy.ts';
import { useDeployCheck } from './use-deploy-check.ts';
import { useRunning } from './use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from './variable-draft.ts';
import { versionName } from './version.ts';

const NO_NAMES: readonly string[] = [];

type Result = { outcome: DeployOutcome; isSurprise: boolean };

/**
 * The state of a deploy: the active deployment, the input, the changes, and the outcome of the last deploy. Each
 * environment has its own variables and outcome, so that no secret of one reaches the other.
 */
export function useDeployForm({
  botId,
  source,
  environment,
  isShown = true,
  onDeployed,
}: {
  botId: string;
  source: string;
  environment: Environment;
  /** Whether the form shows. A hidden one checks nothing. */
  isShown?: boolean | undefined;
  onDeployed?: ((outcome: DeployOutcome) => void) | undefined;
}) {
  const [draft, setDraft] = useOwnState(environment, NO_VARIABLES);
  const [message, setMessage] = useState('');
  const [isConfirming, setConfirming] = useState(false);
  const [result, setResult] = useOwnState<Result | undefined>(environment, undefined);
  const reading = useRunning(botId, environment);
  const { running, know } = reading;
  // Each environment has its own unanswered request.
  const deploys = { PRODUCTION: useDeploy(botId), STAGING: useDeploy(botId) };
  const { isBusy, problem, deploy } = deploys[environment];
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
  const checkedInput = isShown && mayCheck ? input : undefined;
  const { check, ...checked } = useDeployCheck(botId, checkedInput, running?.id);
  const named = check?.envNames ?? NO_NAMES;
  if (named !== used) setUsed(named);

  const isSame =
    running?.source === source && changes.set.length === 0 && changes.unset.length === 0;

  const submit = async () => {
    const outcome = await deploy({ ...input, message: message.trim() || null });
    if (!outcome) return;
    setConfirming(false);
    setResult({ outcome, isSurprise: outcome.previous?.id !== running?.id });
    if (outcome.status === 'FAILED') return;
    know(outcome.id);
    setDraft(NO_VARIABLES);
    setMessage('');
    toast(`Deployed ${versionName(outcome)} to ${toLowerCase(environment)}.`);
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
    isSame,
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

/** A state that each environment has of its own. */
function useOwnState<Value>(
  environment: Environment,
  initial: Value,
): [Value, (value: Value) => void] {
  const [values, setValues] = useState({ PRODUCTION: initial, STAGING: initial });
  return [
    values[environment],
    (value) => setValues((before) => ({ ...before, [environment]: value })),
  ];
}
