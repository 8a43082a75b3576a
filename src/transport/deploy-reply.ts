import { formatDiagnostic } from '../language/diagnostic.ts';
import type { DeploymentData } from '../operations/deployments.ts';

/** The documented answer to a deploy. */
export function deployReply(deployment: DeploymentData) {
  const lines = (severity: 'ERROR' | 'WARNING') =>
    deployment.diagnostics
      .filter((diagnostic) => diagnostic.severity === severity)
      .map(formatDiagnostic);
  return {
    deployment_id: deployment.id,
    bot_id: deployment.bot.id,
    status: deployment.status.toLowerCase(),
    deployed_at: deployment.deployedAt ?? deployment.createdAt,
    channels: deployment.channels.map((channel) => channel.toLowerCase()),
    parse_errors: lines('ERROR'),
    warnings: lines('WARNING'),
  };
}

/** An entry of the list: the same, and what tells it from the others. */
export function deploymentEntry(deployment: DeploymentData) {
  return {
    ...deployReply(deployment),
    environment: deployment.environment.toLowerCase(),
    message: deployment.message,
    active: deployment.active,
    rolled_back_to: deployment.rolledBackTo?.id ?? null,
  };
}
