import type { Actor } from '../accounts/audit.ts';
import type { Environment } from '../generated/prisma/client.ts';
import type { IdempotencyKey } from '../idempotency/key.ts';
import type { EnvironmentVariables } from './environment.ts';

/** What decides on the deploy of a source. */
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

/** The source and the variables of a new deployment: of the request, or of an earlier deployment. */
export type DeployTarget =
  | (DeployCheckRequest & { action: 'DEPLOY' })
  | {
      action: 'ROLLBACK' | 'PROMOTE';
      botId: string;
      /** The earlier deployment. */
      deploymentId: string;
    };

/** A request for a new deployment. */
export type DeployRequest = DeployTarget & {
  message?: string | null | undefined;
  /** Whether it goes round the gate of the bot. It then needs a message. */
  skipGate?: boolean | undefined;
  idempotency?: IdempotencyKey | undefined;
  /** The key that deploys, for the audit log. Absent for a deployment without a request. */
  actor?: Actor | undefined;
};
