import { isJsonObject } from '../text/json.ts';
import { parseOrNone } from './wire.ts';

/** An error as a model server describes it. */
export type Problem = {
  /** Up to 2,000 characters without control characters; empty if the server sent none. */
  message: string;
  /** The names of the request's members that the server names beside the message. */
  names: string[];
  /** The HTTP status that the description holds. */
  status: number | undefined;
};

/** No name, as text. Servers in Python write `None`. */
const NO_NAME = /^\s*(none|null)?\s*$/i;

/** Characters kept of a message. It is cut further once it is redacted. */
const MAX_MESSAGE = 2_000;
/** Gateways put the error of the server behind them into their own, as an object or as text. */
const MAX_DEPTH = 8;
const MAX_LIST = 20;

const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu;

type Found = { messages: string[]; names: string[]; status: number | undefined };

/**
 * Reads an error in the forms of OpenAI (`{error: {message, param, code}}`), FastAPI (`{detail: [{loc, msg}]}`), Mistral,
 * Google (a list) and gateways (one within another). It never reads a member that quotes the request.
 */
export function readProblem(value: unknown): Problem {
  const found: Found = { messages: [], names: [], status: undefined };
  read(value, found, 0);
  const { names, status } = found;
  return { message: cleaned([...new Set(found.messages)].join('; ')), names, status };
}

function read(value: unknown, found: Found, depth: number): void {
  if (depth > MAX_DEPTH) return;
  if (typeof value === 'string') readText(value, found, depth);
  if (Array.isArray(value)) {
    for (const item of value.slice(0, MAX_LIST)) read(item, found, depth + 1);
    return;
  }
  if (!isJsonObject(value)) return;
  const { error, message, detail, msg, param, loc, code, status, type } = value;
  if (typeof param === 'string' && !NO_NAME.test(param)) found.names.push(param);
  if (Array.isArray(loc)) found.names.push(...loc.slice(0, MAX_LIST).map(String));
  for (const named of [code, status, type]) found.status ??= statusOf(named);
  const where = Array.isArray(loc) ? `${loc.slice(0, MAX_LIST).join('.')}: ` : '';
  for (const part of [error, message, detail, msg]) {
    if (where && typeof part === 'string') found.messages.push(where + part);
    else if (part) read(part, found, depth + 1);
  }
}

/** The status that a code, or a name such as `rate_limit_exceeded`, means. */
function statusOf(code: unknown): number | undefined {
  const status = Number(code);
  if (Number.isInteger(status) && status >= 400 && status <= 599) return status;
  if (typeof code !== 'string') return undefined;
  if (/rate_?limit|quota/i.test(code)) return 429;
  return /overloaded/i.test(code) ? 503 : undefined;
}

function readText(text: string, found: Found, depth: number): void {
  const inner = /^\s*[[{]/.test(text) ? parseOrNone(text) : undefined;
  if (inner === undefined) found.messages.push(text.slice(0, MAX_MESSAGE));
  else read(inner, found, depth + 1);
}

/** Makes a text of a server one line. */
function cleaned(text: string): string {
  const line = text.toWellFormed().replaceAll(CONTROL, ' ').trim();
  return line.slice(0, MAX_MESSAGE).toWellFormed();
}
