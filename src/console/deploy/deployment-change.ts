import type { Environment } from '../../generated/operations/console.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { versionName } from './version.ts';

/** A deployment that runs again, by a promotion or a rollback. */
type EarlierDeployment = {
  id: string;
  version: number | null;
  environment: Environment;
  envNames: string[];
  /** Absent without the scope DEPLOY. */
  source?: string | undefined;
};

/** What is deployed: a definition, or an earlier deployment again. */
export type DeploymentChange =
  | { kind: 'deploy'; source: string }
  | { kind: 'promote' | 'rollback'; deployment: EarlierDeployment };

/** The definition that is deployed. */
export function sourceOf(change: DeploymentChange): string {
  return change.kind === 'deploy' ? change.source : (change.deployment.source ?? '');
}

/** The texts that name a change. */
export function labelsOf(change: DeploymentChange, environment: Environment) {
  const place = toLowerCase(environment);
  if (change.kind === 'deploy') {
    const action = `Deploy to ${place}`;
    return { title: action, action, after: 'this definition' };
  }
  const name = versionName(change.deployment);
  if (change.kind === 'promote')
    return {
      title: `Promote ${name} to production`,
      action: 'Promote to production',
      after: name,
    };
  return { title: `Roll back to ${name}`, action: `Roll back to ${name}`, after: name };
}

/**
 * The effect of a change, in sentences.
 *
 * @param running the name of the active deployment.
 * @param hasGate whether the definition must pass the gate first.
 */
export function effectOf(
  change: DeploymentChange,
  {
    environment,
    running,
    botName,
    hasGate,
  }: {
    environment: Environment;
    running: string | undefined;
    botName: string;
    hasGate: boolean;
  },
): string {
  const use = hasGate
    ? 'Requests use it once it has passed the gate'
    : 'The next request already uses it';
  const place = toLowerCase(environment);
  if (change.kind === 'deploy')
    return running
      ? `This replaces ${running} in ${place} of ${botName}. ${use}, and you can roll back.`
      : `This is the first deployment to ${place} of ${botName}. ${use}.`;
  const name = versionName(change.deployment);
  const replaced = running ? ` in place of ${running}` : '';
  return change.kind === 'promote'
    ? `A new deployment runs the definition of ${name} in production${replaced}, with the variables of production. ${use}.`
    : `A new deployment runs the definition of ${name} in ${place}${replaced}, with the variables and values that ${name} had. It passes no gate, and the next request already uses it.`;
}
