import { formatDiagnostic } from '../../../language/diagnostic.ts';
import type { DeploymentData } from '../../../operations/deployments.ts';
import { toLowerCase } from '../../../text.ts';

/** Maps a deployment to the documented response. */
export function toDeployReply(deployment: DeploymentData) {
  const lines = (severity: 'ERROR' | 'WARNING') =>
    deployment.diagnostics
      .filter((diagnostic) => diagnostic.severity === severity)
      .map(formatDiagnostic);
  return {
    deployment_id: deployment.id,
    bot_id: deployment.bot.id,
    status: toLowerCase(deployment.status),
    deployed_at: (deployment.deployedAt ?? deployment.createdAt).toISOString(),
    channels: deployment.channels.map(toLowerCase),
    parse_errors: lines('ERROR'),
    warnings: lines('WARNING'),
  };
}

/** Maps a deployment to an entry of the list. */
export function toDeploymentEntry(deployment: DeploymentData) {
  return {
    ...toDeployReply(deployment),
    environment: toLowerCase(deployment.environment),
    message: deployment.message,
    active: deployment.active,
    rolled_back_to: deployment.rolledBackTo?.id ?? null,
  };
}
