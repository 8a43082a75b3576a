import type { Actor } from '../accounts/audit.ts';
import type { Environment } from '../generated/prisma/client.ts';
import type { IdempotencyKey } from '../idempotency/key.ts';
import type { EnvironmentVariables } from './environment.ts';

/** What each request for a deployment has. */
export type DeploymentRequest = {
  botId: string;
  idempotency?: IdempotencyKey | undefined;
  /** The key that deploys, for the audit log. Absent for a deployment without a request. */
  actor?: Actor | undefined;
};

/** What decides on a deploy. */
export type DeployCheckRequest = {
  botId: string;
  environment: Environment;
  /** In agentlang 5. An invalid source makes a failed deployment. */
  source: string;
  /** Merged over the variables of the environment's active deployment. */
  envVars: EnvironmentVariables;
  /** Names of variables to remove. */
  unsetEnvVars: string[];
};

export type DeployRequest = DeploymentRequest & DeployCheckRequest & { message?: string | null };

/** An earlier deployment to roll back to or to promote. */
export type RedeployRequest = DeploymentRequest & {
  deploymentId: string;
  message?: string | null;
};
