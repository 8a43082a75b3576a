import type { ConsoleSessions } from '../accounts/console-sessions.ts';
import type { Limits } from '../accounts/limits.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import type { SignInCodes } from '../accounts/sign-in-codes.ts';
import type { FindVisited } from '../accounts/visitors.ts';
import type { Lifetime } from '../async/lifetime.ts';
import type { TelegramOptions } from '../channels/compose.ts';
import type { TelegramWebhook } from '../channels/telegram/webhook.ts';
import type { FindLogo } from '../channels/web/logos.ts';
import type { Visits } from '../channels/web/visits.ts';
import type { Redis } from '../coordination/redis.ts';
import type { ServerCheck } from '../coordination/server-state.ts';
import type { EnvironmentCipher } from '../deployments/environment.ts';
import type { Model } from '../model/model.ts';
import type { Log } from '../observability/log.ts';
import type { QueueDepth } from '../runs/queue/queue-depth.ts';
import type { ResourceAttributes } from '../runs/trace/resource.ts';
import type { Domains } from '../schema/context.ts';
import type { Database } from '../storage/database.ts';

export type DomainOptions = {
  /** Open. The caller closes it. */
  database: Database;
  /** Shared by all replicas. The caller closes it. None: this process is the only replica. */
  redis?: Redis | undefined;
  cipher: EnvironmentCipher;
  /** The secret key, then the previous ones. Session tokens are encrypted with them. */
  secretKeys: Uint8Array[];
  model: Model;
  /** Origins whose pages may call `/graphql*`; none by default. */
  allowedOrigins?: string[] | undefined;
  /** Checks the server as `parley doctor` does; no checks by default. */
  checkServer?: (() => Promise<ServerCheck[]>) | undefined;
  /** `host:port` of private hosts that tools may call. */
  allowedHosts: string[];
  /**
   * The server's public base URL, without a trailing slash. Telegram sends updates there if it is `https:`; else they are polled. The examples in
   * the API reference have it too; by default they have the URL of the reader's request.
   */
  publicUrl?: string | undefined;
  /** The Bot API server, and time limits for it. */
  telegram?: TelegramOptions | undefined;
  /** Base URL of the collector that receives traces; none by default. */
  otlpEndpoint?: string | undefined;
  /** Describes this process to the collector, besides its name, version and instance. */
  resourceAttributes?: ResourceAttributes | undefined;
  /** Days that runs are kept; forever by default. */
  retentionDays?: number | undefined;
  /** Days that the prompts of runs are stored; 0: not at all. 30 by default. */
  promptDays?: number | undefined;
  /** Days that the texts of tool calls are stored; 0: not at all. 30 by default. */
  toolCallDays?: number | undefined;
  /** Days that evaluations are kept. 90 by default. */
  evaluationDays?: number | undefined;
  /** The model of the operator's server that judges replies. By default, the model of the definition. */
  judgeModel?: string | undefined;
  /** Milliseconds since the epoch, for the expiry of keys and tokens, and for limits without Redis. */
  clock?: () => number;
  log: Log;
  /** Starts the background tasks and closes the resources of the domains. */
  lifetime: Lifetime;
};

/** The domains, which know no transport. */
export type ComposedDomains = {
  domains: Domains;
  sessionTokens: SessionTokens;
  consoleSessions: ConsoleSessions;
  signInCodes: SignInCodes;
  limits: Limits;
  visits: Visits;
  findVisited: FindVisited;
  findLogo: FindLogo;
  /** The warnings that `/readyz` shows, as fixed sentences. */
  warnings(): string[];
  /** The length of the queue, for the metrics. */
  queueDepth(): Promise<QueueDepth>;
  telegramWebhook: TelegramWebhook;
  /** Starts no more runs and waits for the active ones. It aborts the remaining ones after the limit. */
  drain(limitMs: number): Promise<void>;
};
