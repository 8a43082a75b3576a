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
import type { SignInCodes } from '../accounts/sign-in-codes.ts';
import type { BotTools } from '../agent/bot-tools.ts';
import type { ModelTests } from '../agent/model-tests.ts';
import type { SentPrompts } from '../agent/sent-prompt.ts';
import type { Approvals } from '../approvals/approvals.ts';
import { lazy } from '../async/lazy.ts';
import type { Bots } from '../bots/bots.ts';
import type { ChatPages } from '../channels/web/chat-pages.ts';
import type { Visits } from '../channels/web/visits.ts';
import type { ServerState } from '../coordination/server-state.ts';
import type { DeploymentChanges } from '../deployments/changes.ts';
import type { Deploy } from '../deployments/deploy.ts';
import type { DeployChecks } from '../deployments/deploy-check.ts';
import type { DeployedBots } from '../deployments/deployed-bots.ts';
import { GatewayError } from '../errors/errors.ts';
import type { Evaluations } from '../evaluations/evaluations.ts';
import type { StartChat } from '../execution/start-chat.ts';
import type { StartExecute } from '../execution/start-execute.ts';
import type { Entrance, PrismaClient } from '../generated/prisma/client.ts';
import type { Cancel } from '../runs/life/cancel.ts';
import type { Replay } from '../runs/life/replay.ts';
import type { RunExport } from '../runs/list/export.ts';
import type { RunFilter } from '../runs/list/filter.ts';
import type { RunList } from '../runs/list/list.ts';
import type { Changes } from '../runs/record/changes.ts';
import type { RunFeedback } from '../runs/record/feedback.ts';
import type { RunStats } from '../runs/stats/stats.ts';
import type { RunUsage } from '../runs/stats/usage.ts';
import type { DeleteLastTurn } from '../sessions/last-turn.ts';
import type { Sessions } from '../sessions/sessions.ts';
import { createLongReads } from './long-reads.ts';
import { createReadBudget, type ReadBudget } from './read-budget.ts';
import { createSearches } from './searches.ts';

/** The parts of the domain that the schema's resolvers call. */
export type Domains = {
  prisma: PrismaClient;
  accounts: Accounts;
  keys: Keys;
  sessionTokens: Pick<SessionTokens, 'issue'>;
  signInCodes: Pick<SignInCodes, 'issue'>;
  bots: Bots;
  deploy: Deploy;
  deployChecks: DeployChecks;
  deploymentChanges: DeploymentChanges;
  deployedBots: DeployedBots;
  sessions: Sessions;
  deleteLastTurn: DeleteLastTurn;
  startChat: StartChat;
  startExecute: StartExecute;
  runList: RunList;
  runExport: RunExport;
  runFeedback: RunFeedback;
  sentPrompts: SentPrompts;
  modelTests: ModelTests;
  runStats: RunStats;
  runUsage: RunUsage;
  runChanges: Changes;
  replay: Replay;
  cancel: Omit<Cancel, 'start'>;
  approvals: Approvals;
  evaluations: Evaluations;
  chatPages: ChatPages;
  botTools: BotTools;
  visits: Pick<Visits, 'takeMessage'>;
  server: ServerState;
};

/** The request behind an operation, as its transport describes it. */
export type Origin = {
  /** The caller, or the error that rejects the request. */
  authentication: Caller | GatewayError;
  /** The client's address, for the limits of visitors. */
  address: string | undefined;
  /** Aborted when the client disconnects. */
  signal: AbortSignal;
  /** Sets a response header. No effect once the headers are sent. */
  setHeader(name: string, value: string): void;
  /** The unparsed `traceparent` header of W3C Trace Context. */
  traceparent: unknown;
  /** The interface that received the request. */
  entrance: Entrance;
  /** The unparsed `User-Agent` header. */
  userAgent: unknown;
  /** Counts requests against the caller's limit, all or nothing. @returns the caller too, if it changed since authentication. */
  take(cost: number, options?: ChargeOptions): Promise<Quota & { renewed?: Caller | GatewayError }>;
  /** The requested bot, if the transport knows it. */
  bot?: BotVersion | undefined;
};

/** `isConsoleRead`: whether the cost counts against the caller's session of the console, not against the account. */
export type ChargeOptions = { isConsoleRead?: boolean };

/** The version of a bot: cached data of an older version is stale. */
export type BotVersion = { id: string; version: string };

/** The context of all resolvers. Each operation has its own; every transport creates it the same way. */
export type Context = Domains &
  Pick<Origin, 'address' | 'signal' | 'setHeader' | 'traceparent' | 'entrance' | 'userAgent'> & {
    /** @throws GatewayError `missing_api_key` or `invalid_api_key` */
    caller(): Caller;
    /** Whether the request has a valid key or session token. */
    isAuthenticated(): boolean;
    /** Whether the caller is a browser that is signed in to the console. */
    isConsole(): boolean;
    /** The session that the caller's session token grants; none for an API key. */
    session(): SessionGrant | undefined;
    /**
     * Authorizes the caller for a bot. REST calls it before it reads a body; the schema's auth scopes call it too.
     *
     * @param scope the scope that the key needs; none if access to the bot suffices.
     * @throws GatewayError the errors of `Bots.authorize`, then `insufficient_scope`.
     */
    authorizeBot(botId: string, scope?: RequiredScope): Promise<void>;
    /** Lets this operation read the contents of a run that it started, joined or found in the token's session. */
    openRun(runId: string): void;
    /**
     * Authorizes reading the contents of a run: input, response, error, trace, metadata and deployment.
     *
     * @throws GatewayError `insufficient_scope` without the scope RUNS, unless `openRun` opened the run.
     */
    authorizeRun(runId: string): void;
    /**
     * Counts the operation before it runs. The documents of REST routes are not charged, because their HTTP request
     * already is.
     *
     * @throws GatewayError `rate_limit_exceeded`
     */
    charge(cost: number, options?: ChargeOptions): Promise<void>;
    /** The version of a bot as read for this request; none if its data must not be cached. */
    botVersion(id: string): string | undefined;
    /** What this operation, or this event of a subscription, may still read. */
    readBudget(): ReadBudget;
    /** Queues a read of long texts until the client disconnects: see `LongReads`. */
    longRead<Result>(read: () => Promise<Result>): Promise<Result>;
    /** Queues the search of a filter with a text, and runs a read with another filter at once: see `createSearches`. */
    search<Result>(
      filter: RunFilter | null | undefined,
      read: () => Promise<Result>,
    ): Promise<Result>;
    /** The caller's limits after this operation was charged. */
    quota(): Promise<Quota>;
  };

/** @returns a function that creates the context of one operation. */
export function createContextFactory(domains: Domains): (origin: Origin) => Context {
  const longReads = createLongReads();
  const searches = createSearches();
  return ({ authentication: remembered, take, bot, ...origin }) => {
    let authentication = remembered;
    const caller = () => {
      if (authentication instanceof GatewayError) throw authentication;
      return authentication;
    };
    const isAuthenticated = () => !(authentication instanceof GatewayError);
    const isConsole = () =>
      !(authentication instanceof GatewayError) && authentication.consoleSession !== undefined;
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
    const { signal } = origin;
    const longRead = <Result>(read: () => Promise<Result>) =>
      longReads(caller().account.id, signal, read);
    const search: Context['search'] = (filter, read) =>
      filter?.text == null ? read() : searches(caller().account.id, signal, read);
    let counted: Quota | undefined;
    const charge: Context['charge'] = async (cost, options) => {
      const { renewed = authentication, ...quota } = await take(cost, options);
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
      isConsole,
      session,
      authorizeBot,
      openRun,
      authorizeRun,
      charge,
      longRead,
      search,
      quota,
      botVersion,
      readBudget: lazy(createReadBudget),
    };
  };
}

/** @returns the context of one event of a subscription, which has a read budget of its own. */
export function contextOfEvent(context: Context): Context {
  return { ...context, readBudget: lazy(createReadBudget) };
}
