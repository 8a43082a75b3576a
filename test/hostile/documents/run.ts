import { type GraphQLObjectType, OperationTypeNode } from 'graphql';
import { schema } from '../../../src/schema/index.ts';
import { align } from '../../bench/report.ts';
import type { AttackedServer } from '../attacked-server.ts';
import type { Bounds } from '../bounds.ts';
import { type HeavyDocument, heaviestDocuments } from './heaviest.ts';
import { HEAVY_BOT, heavyValues, type Ids, LENGTHS } from './longest-values.ts';
import type { Step } from './paths.ts';

/** What a document did to the server. */
export type Cost = {
  name: string;
  query: string;
  /** HTTP status; 0 without a response. */
  status: number;
  /** The codes of its errors. */
  errors: string;
  /** Bytes of the answer; for a subscription, of the largest event. */
  bytes: number;
  ms: number;
  /** The longest stall of the event loop, see `stallOf`. */
  stallMs: number;
  /** How much the server's resident set grew, in MiB. */
  growthMebibytes: number;
};

/** Where documents run. */
type Target = Pick<AttackedServer, 'heavyKey' | 'memory' | 'stalls'> & {
  url: string;
  signal: AbortSignal;
};

const LIMIT_MS = 30_000;
/** Documents that are printed, and characters of each that a problem quotes. */
const PRINTED = 12;
const QUOTED = 500;
/** Subscribers of one document at the same time, and the events for which each waits. */
const SUBSCRIBERS = 4;
const EVENTS = 2;
const EVENTS_LIMIT_MS = 3_000;
/** The types of a short run: those with the longest texts and the most rows. */
const SHORT_TYPES = ['Run', 'Bot', 'Deployment', 'Session', 'ApiKey', 'Feedback', 'Diagnostic'];

/**
 * Runs the heaviest documents one after the other, until the server ends.
 *
 * @param isShort runs only the documents of a few types.
 */
export async function runDocuments(
  { parley, ...server }: AttackedServer,
  isShort: boolean,
  signal: AbortSignal,
): Promise<Cost[]> {
  const target = { ...server, url: parley.url, signal };
  const { queries, subscriptions } = await documentsFor(target, isShort);
  const costs: Cost[] = [];
  for (const [documents, run] of [
    [queries, runDocument],
    [subscriptions, runSubscription],
  ] as const) {
    for (const document of documents) {
      if (parley.ending() !== null || signal.aborted) return costs;
      costs.push(await run(target, document));
    }
  }
  return costs;
}

/** The documents of all types, or of a few. */
export async function documentsFor(
  { url, heavyKey }: Pick<Target, 'url' | 'heavyKey'>,
  isShort: boolean,
): Promise<{ queries: HeavyDocument[]; subscriptions: HeavyDocument[] }> {
  const ids = await idsOf(url, heavyKey);
  const options = {
    valuesFor: ({ name }: GraphQLObjectType) => heavyValues(ids, name),
    lengths: LENGTHS,
  };
  const build = (
    operation: OperationTypeNode,
    isWanted: (type: GraphQLObjectType, path: readonly Step[]) => boolean,
  ) =>
    heaviestDocuments(
      schema,
      operation,
      options,
      (type, path) => (!isShort || SHORT_TYPES.includes(type.name)) && isWanted(type, path),
    );
  // The types below are reached by queries too.
  const isNear = (_type: GraphQLObjectType, path: readonly Step[]) => path.length <= 2;
  return {
    queries: [
      ...build(OperationTypeNode.QUERY, () => true),
      ...build(OperationTypeNode.MUTATION, isNear),
    ],
    subscriptions: build(OperationTypeNode.SUBSCRIPTION, isNear),
  };
}

/** The ids of the heavy account's objects, 100 of each type; of a type with fewer, some repeatedly. */
async function idsOf(url: string, apiKey: string): Promise<Ids> {
  const nodes = (list: string) => `${list} { edges { node { id } } }`;
  const query = `{
    viewer { account { id apiKeys { id } ${nodes('bots(first: 100)')} } }
    bot(id: "${HEAVY_BOT}") {
      ${nodes('runs(first: 100)')} ${nodes('deployments(first: 100)')} ${nodes('sessions(first: 100)')}
    }
  }`;
  const { data } = JSON.parse((await post(url, apiKey, { query })).text);
  const { account } = data.viewer;
  const idsIn = ({ edges }: { edges: { node: { id: string } }[] }) =>
    edges.map(({ node }) => node.id);
  return {
    Account: Array(100).fill(account.id),
    ApiKey: account.apiKeys.slice(0, 100).map(({ id }: { id: string }) => id),
    Bot: idsIn(account.bots),
    Deployment: idsIn(data.bot.deployments),
    Run: idsIn(data.bot.runs),
    Session: idsIn(data.bot.sessions),
  };
}

/** Runs a query or a mutation, and measures the server meanwhile. */
export function runDocument(target: Target, document: HeavyDocument): Promise<Cost> {
  return measured(target, document, () =>
    post(target.url, target.heavyKey, document, target.signal),
  );
}

/** Subscribes several times, changes what is subscribed to, and measures the server until the events have arrived. */
export function runSubscription(target: Target, document: HeavyDocument): Promise<Cost> {
  return measured(target, document, async () => {
    const subscribers = Array.from({ length: SUBSCRIBERS }, () => subscribe(target, document));
    await changeThings(target);
    const answers = await Promise.all(subscribers);
    return answers.reduce((largest, answer) => (answer.bytes > largest.bytes ? answer : largest));
  });
}

type Answer = { status: number; bytes: number; text: string };

async function measured(
  { memory, stalls }: Target,
  { name, query }: HeavyDocument,
  send: () => Promise<Answer>,
): Promise<Cost> {
  await stalls.read();
  const before = await memory.now();
  const largestMemory = memory.measure();
  const startedAt = performance.now();
  const { status, bytes, text } = await send();
  const ms = performance.now() - startedAt;
  const { longestStallMs } = await stalls.read();
  const codes = [...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code);
  return {
    name,
    query,
    status,
    errors: [...new Set(codes)].join(' '),
    bytes,
    ms,
    stallMs: longestStallMs,
    growthMebibytes: Math.max(largestMemory() - before, 0),
  };
}

/** The characters of an answer that are searched for errors. */
const SHOWN = 10_000;

async function post(
  url: string,
  apiKey: string,
  { query, variables = {} }: { query: string; variables?: object },
  signal?: AbortSignal,
): Promise<Answer> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
      signal: signal ? AbortSignal.any([limit, signal]) : limit,
    });
    const body = Buffer.from(await response.arrayBuffer());
    const text = body.length < 1e6 ? body.toString() : body.toString('utf8', 0, SHOWN);
    return { status: response.status, bytes: body.length, text };
  } catch {
    return { status: 0, bytes: 0, text: '' };
  }
}

/** Reads a few events. @returns the largest one. */
async function subscribe(
  { url, heavyKey, signal }: Target,
  { query, variables }: HeavyDocument,
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(EVENTS_LIMIT_MS)]);
  const largest = { status: 0, bytes: 0, text: '' };
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${heavyKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query, variables }),
      signal: limit,
    });
    largest.status = response.status;
    let bytes = 0;
    let events = 0;
    for await (const piece of response.body ?? []) {
      if (largest.text.length < SHOWN) largest.text += Buffer.from(piece).toString();
      for (let at = 0; at >= 0; ) {
        const end = Buffer.from(piece).indexOf('\n\n', at);
        bytes += (end < 0 ? piece.length : end) - at;
        largest.bytes = Math.max(largest.bytes, bytes);
        at = end < 0 ? -1 : end + 2;
        if (end < 0) continue;
        events += 1;
        bytes = 0;
      }
      if (events >= EVENTS) break;
    }
  } catch {
    // The limit ends a stream with fewer events.
  }
  return largest;
}

/** Deploys to the heavy bot and runs it, so that each of its subscriptions has events. */
async function changeThings({ url, heavyKey, signal }: Target): Promise<void> {
  const query = `mutation ($botId: ID!, $deploy: DeployInput!, $run: ExecuteInput!) {
    deploy(botId: $botId, input: $deploy) { id }
    execute(botId: $botId, input: $run) { id }
  }`;
  const source = 'agentlang 5\nagent "Heavy" {\n  prompt "You are heavy."\n}\n';
  const variables = {
    botId: HEAVY_BOT,
    deploy: { source, environment: 'STAGING', message: '\u0001'.repeat(1_000) },
    run: { prompt: 'x'.repeat(900_000), environment: 'PRODUCTION' },
  };
  await post(url, heavyKey, { query, variables }, signal);
}

/** The costliest documents of a run, as aligned lines. */
export function costTable(costs: Cost[]): string {
  const worst = costs.toSorted((one, other) => other.stallMs - one.stallMs).slice(0, PRINTED);
  const header = ['', 'status', 'answer', 'time', 'stall', 'growth'];
  const rows = worst.map(({ name, status, bytes, ms, stallMs, growthMebibytes }) => [
    name,
    String(status),
    `${(bytes / 1024 / 1024).toFixed(2)} MiB`,
    `${ms.toFixed(0)} ms`,
    `${stallMs.toFixed(0)} ms`,
    `${growthMebibytes.toFixed(0)} MiB`,
  ]);
  return `${costs.length} documents; those with the longest stalls:\n${align([header, ...rows])}`;
}

/** The documents that exceed a bound. */
export function costProblems(costs: Cost[], bounds: Bounds): string[] {
  return costs.flatMap(({ name, query, status, errors, bytes, stallMs, growthMebibytes }) => {
    const found = [
      status === 0 && 'no response',
      errors.includes('INTERNAL_ERROR') && 'INTERNAL_ERROR',
      bytes > bounds.answerBytes && `an answer of ${bytes} bytes`,
      stallMs > bounds.stallMs && `a stall of ${stallMs.toFixed(0)} ms`,
      growthMebibytes > bounds.growthMebibytes && `growth by ${growthMebibytes.toFixed(0)} MiB`,
    ].filter((problem) => problem !== false);
    return found.length > 0 ? [`${name}: ${found.join(', ')}: ${query.slice(0, QUOTED)}`] : [];
  });
}
