import type { Accounts } from '../accounts/accounts.ts';
import {
  authorizeScope,
  type Caller,
  type RequiredScope,
  type SessionGrant,
} from '../accounts/caller.ts';
import type { Keys } from '../accounts/keys.ts';
import { type Quota, rateLimitExceeded } from '../accounts/limits.ts';
import type { SessionTokens } from '../accounts/session-tokens.ts';
import type { Bots } from '../bots/bots.ts';
import type { DeploymentChanges } from '../deployments/changes.ts';
import type { Deployments } from '../deployments/deployments.ts';
import { GatewayError } from '../errors.ts';
import type { Chat } from '../execution/start-chat.ts';
import type { Execute } from '../execution/start-execute.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Cancel } from '../runs/cancel.ts';
import type { Changes } from '../runs/changes.ts';
import type { RunList } from '../runs/list.ts';
import type { Replay } from '../runs/replay.ts';
import type { RunStats } from '../runs/stats.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { createLongReads } from './long-reads.ts';

/** The parts of the domain that the schema's resolvers call. */
export type Domains = {
  prisma: PrismaClient;
  accounts: Accounts;
  keys: Keys;
  sessionTokens: Pick<SessionTokens, 'issue'>;
  bots: Bots;
  deployments: Deployments;
  deploymentChanges: DeploymentChanges;
  sessions: Sessions;
  chat: Chat;
  execute: Execute;
  runList: RunList;
  runStats: RunStats;
  runChanges: Changes;
  replay: Replay;
  cancel: Pick<Cancel, 'cancel' | 'cancelAll'>;
};

/** Where an operation comes from, told by its transport. */
export type Origin = {
  /** Who asks, or why nobody is let in. */
  authentication: Caller | GatewayError;
  /** Aborted when the client has gone. */
  signal: AbortSignal;
  /** Sends a header with the answer, where the transport still can. */
  setHeader(name: string, value: string): void;
  /** The header of W3C Trace Context, as it came. */
  traceparent: unknown;
  /** Counts against the caller, all or nothing. @returns also the caller, where it has changed since it was read. */
  take(cost: number): Promise<Quota & { renewed?: Caller | GatewayError }>;
  /** The bot that the request is for, where the transport knows. */
  bot?: BotVersion | undefined;
};

/** Under which version what is remembered of a bot still holds. */
export type BotVersion = { id: string; version: string };

/** What every resolver gets; made anew for each operation, the same way on every transport. */
export type Context = Domains &
  Pick<Origin, 'signal' | 'setHeader' | 'traceparent'> & {
    /** @throws GatewayError `missing_api_key` or `invalid_api_key`: without a good key nobody reaches data. */
    caller(): Caller;
    /** Whether the request has a valid key or session token. */
    isAuthenticated(): boolean;
    /** The one session that the caller is let in for, where it came with a token. */
    session(): SessionGrant | undefined;
    /**
     * Lets the caller at a bot: asked by the REST layer before it reads a body, and by the schema's scopes.
     *
     * @param scope what the key must be able to do; none: see the bot.
     * @throws GatewayError as `Bots.authorize`, then `insufficient_scope`.
     */
    authorizeBot(botId: string, scope?: RequiredScope): Promise<void>;
    /** Opens what a run holds to this operation, which has begun it, joined it or found it in the token's own session. */
    openRun(runId: string): void;
    /**
     * Allows reading what a run holds: what was said, what went wrong, the trace, the metadata, the deployment.
     *
     * @throws GatewayError `insufficient_scope` without the scope RUNS, unless the run is open to this operation.
     */
    authorizeRun(runId: string): void;
    /**
     * Counts the operation before it runs. Parley's own documents are not counted: the request that asks for
     * them is.
     *
     * @throws GatewayError `rate_limit_exceeded`
     */
    charge(cost: number): Promise<void>;
    /** The version of a bot as this request has found it; none where nothing must be remembered. */
    botVersion(id: string): string | undefined;
    /** Runs a read of long texts when it is the account's turn. */
    longRead<Result>(read: () => Promise<Result>): Promise<Result>;
    /** What is left to the caller, as this operation's count has found it. */
    quota(): Promise<Quota>;
  };

/** @returns a function that makes the context of one operation. */
export function createContextFactory(domains: Domains): (origin: Origin) => Context {
  const longReads = createLongReads();
  return ({ authentication: remembered, take, bot, ...origin }) => {
    let authentication = remembered;
    const caller = () => {
      if (authentication instanceof GatewayError) throw authentication;
      return authentication;
    };
    const isAuthenticated = () => !(authentication instanceof GatewayError);
    const session = () =>
      authentication instanceof GatewayError ? undefined : authentication.session;
    const authorized = new Map<string, Promise<void>>();
    const authorizeBot = async (botId: string, scope?: RequiredScope) => {
      const known = authorized.get(botId) ?? domains.bots.authorize(caller(), botId);
      authorized.set(botId, known);
      await known;
      if (scope) authorizeScope(caller(), scope);
    };
    const openRuns = new Set<string>();
    const openRun = (runId: string) => void openRuns.add(runId);
    const authorizeRun = (runId: string) => {
      if (!openRuns.has(runId)) authorizeScope(caller(), 'RUNS');
    };
    const longRead = <Result>(read: () => Promise<Result>) => longReads(caller().account.id, read);
    let counted: Quota | undefined;
    const charge = async (cost: number) => {
      const { renewed = authentication, ...quota } = await take(cost);
      authentication = renewed;
      counted = quota;
      if (!counted.allowed) throw rateLimitExceeded(counted, cost);
    };
    const quota = async () => counted ?? take(0);
    const botVersion = (id: string) => (bot?.id === id ? bot.version : undefined);
    return {
      ...domains,
      ...origin,
      caller,
      isAuthenticated,
      session,
      authorizeBot,
      openRun,
      authorizeRun,
      charge,
      longRead,
      quota,
      botVersion,
    };
  };
}
