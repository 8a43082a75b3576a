import type { Socket } from 'node:net';
import type { Random } from '../helpers/seeded-random.ts';

/** A tenant that attacks: one key, and one bot for each kind of definition that it attacks with. */
export type HostileAccount = {
  apiKey: string;
  /** Its model and its tools are the hostile server's. */
  modelBot: string;
  /** Its tools are those of the hostile MCP server. */
  mcpBot: string;
  /** Its prompt repeats `{{ context }}` as often as a definition may. */
  templateBot: string;
};

/** What an attacking process needs to know. */
export type Target = {
  /** Parley's address, `http://127.0.0.1:PORT`. */
  url: string;
  /** The hostile server's address. */
  hostileUrl: string;
  accounts: HostileAccount[];
  /** A text of the honest tenant. An answer that holds it is a leak. */
  canary: string;
};

export type Request = {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  /** Objects are sent as JSON. */
  body?: string | Buffer | object | undefined;
};

/** `text` holds the first MiB. */
export type Answer = { status: number; text: string };

/** What one attack works with. */
export type AttackContext = {
  target: Target;
  /** One of the accounts, drawn for this attack. */
  account: HostileAccount;
  random: Random;
  /** Ends the attack: its time is over, or the run is. */
  signal: AbortSignal;
  /** Sends a request and reads its answer. @throws where the server closes the connection without one. */
  send(request: Request): Promise<Answer>;
  /** The same with the account's key. */
  sendWithKey(request: Request): Promise<Answer>;
  /** Sends a GraphQL operation with the account's key. */
  graphql(query: string, variables?: object): Promise<Answer>;
  /** Opens a TCP connection that the end of the attack closes. */
  connect(): Socket;
  /** Waits, but not beyond the end of the attack. */
  pause(ms: number): Promise<void>;
};

/** One way to attack, drawn anew each time with other numbers. */
export type Attack = (context: AttackContext) => Promise<unknown>;

/** Attacks by their names. */
export type Attacks = Record<string, Attack>;

export const json = { 'content-type': 'application/json' };

/** The path of one of the account's bots in REST. */
export const botPath = (bot: string, rest: string) => `/v1/bots/${bot}/${rest}`;
