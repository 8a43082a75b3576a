import { useDeferredValue, useState } from 'react';
import type { Environment } from '../../operations/console/operations.ts';
import { toast } from '../parts/toast.tsx';
import { type DeployOutcome, useDeploy } from './use-deploy.ts';
import { useReading } from './use-reading.ts';
import { useRunning } from './use-running.ts';
import { changesIn, NO_VARIABLES, namesAfter, variableFields } from './variable-draft.ts';
import { ENVIRONMENT_NAMES, versionName } from './version.ts';

/** The state of a deploy: what runs, what is typed, what a deploy changes, and what became of the last one. */
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
  const { envNames, diagnose } = useReading(shown);
  const fields = variableFields(envNames, before, draft);
  const changes = changesIn(fields);

  const submit = async () => {
    const outcome = await deploy({
      source,
      environment,
      message: message.trim() || null,
      envVars: changes.set.map((name) => ({ name, value: draft.values[name] ?? '' })),
      unsetEnvVars: changes.unset,
    });
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
    findings: diagnose(namesAfter(fields)),
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
