import type { Socket } from 'node:net';
import type { Random } from '../helpers/seeded-random.ts';

/** A hostile tenant: one key, and one bot for each kind of hostile definition. */
export type HostileAccount = {
  apiKey: string;
  /** A bot with the hostile server's model and tools. */
  modelBot: string;
  /** A bot with the tools of the hostile MCP server. */
  mcpBot: string;
  /** A bot whose prompt repeats `{{ context }}` as often as allowed. */
  templateBot: string;
};

/** The configuration of an attacking process. */
export type Target = {
  /** Parley's base URL, `http://127.0.0.1:PORT`. */
  url: string;
  /** The hostile server's base URL. */
  hostileUrl: string;
  accounts: HostileAccount[];
  /** A text of the honest tenant. A response that contains it is a leak. */
  canary: string;
};

export type Request = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Objects are sent as JSON. */
  body?: string | Buffer | object | undefined;
};

/** `text` contains the first MiB. */
export type Answer = { status: number; text: string };

/** The context of one attack. */
export type AttackContext = {
  target: Target;
  /** A random one of the accounts. */
  account: HostileAccount;
  random: Random;
  /** Aborted when the attack's time or the whole run is over. */
  signal: AbortSignal;
  /** Sends a request and reads its response. @throws if the server closes the connection without one. */
  send(request: Request): Promise<Answer>;
  /** The same with the account's key. */
  sendWithKey(request: Request): Promise<Answer>;
  /** Sends a GraphQL operation with the account's key. */
  graphql(query: string, variables?: object): Promise<Answer>;
  /** Opens a TCP connection that is closed at the end of the attack. */
  connect(): Socket;
  /** Waits, at most until the end of the attack. */
  pause(ms: number): Promise<void>;
};

/** One kind of attack, performed with random parameters. */
export type Attack = (context: AttackContext) => Promise<unknown>;

/** Attacks by their names. */
export type Attacks = Record<string, Attack>;

export const json = { 'content-type': 'application/json' };

export const MCP_VERSION = '2025-06-18';
/** Headers of a message of the Model Context Protocol. */
export const mcpHeaders = {
  ...json,
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': MCP_VERSION,
};

/** The path of one of the account's bots in REST. */
export const botPath = (bot: string, rest: string) => `/v1/bots/${bot}/${rest}`;
