import type { Environment } from './chats.ts';

/** A definition to deploy. */
export type DeployInput = {
  /** Source of the definition in agentlang 5. */
  source: string;
  /** Environment of the bot. Defaults to `production`. */
  environment?: Environment | undefined;
  /** Note shown in the list of deployments, at most 1,000 characters. */
  message?: string | undefined;
  /**
   * Whether the deployment becomes active without the gate of the bot. It then needs a `message`, and the scope `admin` too.
   * Defaults to `false`.
   */
  skipGate?: boolean | undefined;
  /**
   * Variables that the definition refers to as `env.NAME`, in addition to the variables of the active deployment. `null` removes a
   * variable. Values are stored encrypted and never returned.
   */
  envVars?: Record<string, string | null> | undefined;
};

/** A deployment that succeeded, or is pending. */
export type DeployReply = {
  /** ID of the deployment. */
  deploymentId: string;
  /** ID of the bot. */
  botId: string;
  /**
   * `deployed`: the deployment succeeded. `failed`: nothing changed. `pending`: a channel is still being connected, or the gate of the
   * bot is not decided.
   */
  status: 'deployed' | 'failed' | 'pending';
  /** Time at which the attempt finished, or was accepted while it is pending. `status` says whether it succeeded. */
  deployedAt: string;
  /** Time at which the attempt ended, also if it failed. Null while it is pending. */
  endedAt: string | null;
  /** Channels connected to the deployment. */
  channels: ('api' | 'web' | 'telegram')[];
  /** Every error in the source, with its line and column. Empty on success. */
  parseErrors: string[];
  /** Warnings about the source. They do not prevent deployment. */
  warnings: string[];
};

/** The body of a rollback. */
export type RollbackInput = {
  /** Note shown in the list of deployments, at most 1,000 characters. */
  message?: string | undefined;
};

/** A deployment that copied an earlier one. */
export type RollbackReply = DeployReply & {
  /** ID of the earlier deployment that a rollback copied. */
  rolledBackTo: string | null;
};

/** An entry in the list of deployments, including failed attempts. */
export type Deployment = RollbackReply & {
  /** Environment of the deployment. */
  environment: Environment;
  /** Note from the deployer. */
  message: string | null;
  /** Whether this is the active deployment of its environment. */
  active: boolean;
};

/** Which deployments a list has. All conditions must hold. */
export type DeploymentFilter = {
  /** Only deployments to this environment. */
  environment?: Environment | undefined;
  /** Only deployments with this status. */
  status?: DeployReply['status'] | undefined;
  /** Maximum number of deployments in a page, 1 to 100. Defaults to 20. */
  limit?: number | undefined;
  /** The `nextCursor` of the previous page. Defaults to the first page. */
  cursor?: string | undefined;
};

/** One problem of a source, with its position. */
export type Diagnostic = {
  /** Starts at 1. */
  line: number;
  /** Starts at 1. */
  column: number;
  message: string;
  /** The code of the problem, such as `unknown-setting`. */
  code: string;
};
