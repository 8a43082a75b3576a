import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { ChangeConfirmation } from '../../deploy/change-confirmation.tsx';
import { Findings } from '../../deploy/findings.tsx';
import { RunningVersion } from '../../deploy/running-version.tsx';
import { useDeploy, useRedeploy } from '../../deploy/use-deploy.ts';
import { useReading } from '../../deploy/use-reading.ts';
import { useRunning } from '../../deploy/use-running.ts';
import { changesIn, NO_VARIABLES, variableFields } from '../../deploy/variable-draft.ts';
import { VariableFields } from '../../deploy/variable-fields.tsx';
import { versionName } from '../../deploy/version.ts';
import { changesBetween, plannedChanges } from '../../diff/variables.ts';
import { TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/toast.tsx';
import type { ShownDeployment } from './use-deployment.ts';

/** Shows the changes of a rollback or a promotion, and performs it. Then it opens the new deployment. */
export function RedeployDialog({
  deployment,
  kind,
  onClose,
}: {
  deployment: ShownDeployment;
  kind: 'rollback' | 'promote';
  onClose(): void;
}) {
  const { id, bot, envNames, source = '' } = deployment;
  const environment: Environment = kind === 'promote' ? 'PRODUCTION' : deployment.environment;
  const place = toLowerCase(environment);
  const name = versionName(deployment);
  const [, navigate] = useLocation();
  const [message, setMessage] = useState('');
  const reading = useRunning(bot.id, environment);
  const { running } = reading;
  const { isBusy, problem, redeploy } = useRedeploy(bot.id, kind);
  const before = running?.envNames ?? [];
  const after = kind === 'promote' ? before : envNames;
  const { envNames: used, diagnose } = useReading(source);
  const [draft, setDraft] = useState(NO_VARIABLES);
  const missing = variableFields(used, before, draft).filter(({ isRunning }) => !isRunning);
  const { set } = changesIn(missing);
  const asked = kind === 'promote' ? missing : [];
  const findings = diagnose(kind === 'promote' ? [...after, ...set] : after);
  const sending = useDeploy(bot.id);
  const submit = async () => {
    const note = message.trim();
    // A promotion takes the variables of production. With further ones it is a deploy of the same definition.
    const outcome =
      asked.length > 0 && set.length > 0
        ? await sending.deploy({
            source,
            environment,
            envVars: set.map((name) => ({ name, value: draft.values[name] ?? '' })),
            message: note || `Promotion of ${name}`,
          })
        : await redeploy(id, note || null);
    if (!outcome) return;
    onClose();
    const version = versionName(outcome);
    toast(
      outcome.status === 'FAILED'
        ? `${version} failed. Nothing changed in ${place}.`
        : kind === 'promote'
          ? `Promoted ${name} to production as ${version}.`
          : `Rolled ${place} back to ${name}, as ${version}.`,
    );
    navigate(`/bots/${bot.id}/deployments/${outcome.id}`);
  };
  return (
    <ChangeConfirmation
      title={kind === 'promote' ? `Promote ${name} to production?` : `Roll back to ${name}?`}
      definition={{
        before: running?.source,
        after: source,
        beforeName: running && `${versionName(running)}, active`,
        afterName: name,
      }}
      variables={
        kind === 'promote'
          ? plannedChanges(before, { set, unset: [] })
          : changesBetween(before, after, [])
      }
      kept={kind === 'promote' ? 'stays as in production' : `as in ${name}`}
      action={kind === 'promote' ? 'Promote to production' : `Roll back to ${name}`}
      isBusy={isBusy || sending.isBusy}
      problem={problem ?? sending.problem}
      unavailable={!reading.bot && 'The active deployment is being read.'}
      onConfirm={() => void submit()}
      onCancel={onClose}
    >
      <p>{sentence({ kind, name, place, running: running && versionName(running) })}</p>
      <RunningVersion reading={reading} place={place} />
      <Findings findings={findings} />
      {asked.length > 0 && (
        <fieldset className="variables">
          <legend>Variables that production lacks</legend>
          <VariableFields fields={asked} draft={draft} onChange={setDraft} />
        </fieldset>
      )}
      <TextField
        label="Message"
        placeholder="Why"
        maxLength={1_000}
        value={message}
        onChange={({ target }) => setMessage(target.value)}
      />
    </ChangeConfirmation>
  );
}

/** The change, as text. */
function sentence({
  kind,
  name,
  place,
  running,
}: {
  kind: 'rollback' | 'promote';
  name: string;
  place: string;
  running: string | undefined;
}): string {
  const replaced = running ? ` in place of ${running}` : '';
  return kind === 'promote'
    ? `A new deployment runs the definition of ${name} in production${replaced}, with the variables that production has. The next request already uses it.`
    : `A new deployment runs the definition of ${name} in ${place}${replaced}, with the variables and values that ${name} had. The next request already uses it.`;
}
