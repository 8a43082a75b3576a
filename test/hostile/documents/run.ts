import { type GraphQLObjectType, type GraphQLSchema, OperationTypeNode } from 'graphql';
import type { StallWatch } from '../stalls.ts';
import { type HeavyDocument, heaviestDocuments } from './heaviest.ts';
import { HEAVY_BOT, heavyValues, type Ids, LENGTHS } from './heavy-account.ts';
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

export type DocumentTarget = {
  url: string;
  apiKey: string;
  /** The resident set of the server, in MiB. */
  memory(): Promise<number>;
  stalls: StallWatch;
  signal: AbortSignal;
};

const LIMIT_MS = 30_000;
const MEMORY_PACE_MS = 25;
/** Subscribers of one document at the same time, and the events for which each waits. */
const SUBSCRIBERS = 4;
const EVENTS = 2;
const EVENTS_LIMIT_MS = 8_000;
/** The types of a short run: those with the longest texts and the most rows. */
const SHORT_TYPES = ['Run', 'Bot', 'Deployment', 'Session', 'ApiKey', 'Feedback', 'Diagnostic'];

/** The documents of all types, or of a few. Types that only mutations and subscriptions return are among them. */
export async function documentsFor(
  schema: GraphQLSchema,
  { url, apiKey }: Pick<DocumentTarget, 'url' | 'apiKey'>,
  isShort: boolean,
): Promise<{ queries: HeavyDocument[]; subscriptions: HeavyDocument[] }> {
  const ids = await idsOf(url, apiKey);
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
export function runDocument(target: DocumentTarget, document: HeavyDocument): Promise<Cost> {
  return measured(target, document, () => post(target.url, target.apiKey, document, target.signal));
}

/** Subscribes several times, changes what is subscribed to, and measures the server until the events have arrived. */
export function runSubscription(target: DocumentTarget, document: HeavyDocument): Promise<Cost> {
  return measured(target, document, async () => {
    const subscribers = Array.from({ length: SUBSCRIBERS }, () => subscribe(target, document));
    await changeThings(target);
    const answers = await Promise.all(subscribers);
    return answers.reduce((largest, answer) => (answer.bytes > largest.bytes ? answer : largest));
  });
}

type Answer = { status: number; bytes: number; text: string };

async function measured(
  { memory, stalls }: DocumentTarget,
  { name, query }: HeavyDocument,
  send: () => Promise<Answer>,
): Promise<Cost> {
  await stalls.read();
  const before = await memory();
  let highest = before;
  const timer = setInterval(async () => {
    highest = Math.max(highest, await memory());
  }, MEMORY_PACE_MS);
  const startedAt = performance.now();
  const { status, bytes, text } = await send();
  const ms = performance.now() - startedAt;
  const { longestStallMs } = await stalls.read();
  clearInterval(timer);
  highest = Math.max(highest, await memory());
  const codes = [...text.matchAll(/"code":"([A-Z_]+)"/g)].map(([, code]) => code);
  return {
    name,
    query,
    status,
    errors: [...new Set(codes)].join(' '),
    bytes,
    ms,
    stallMs: longestStallMs,
    growthMebibytes: highest - before,
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
  { url, apiKey, signal }: DocumentTarget,
  { query, variables }: HeavyDocument,
): Promise<Answer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(EVENTS_LIMIT_MS)]);
  const largest = { status: 0, bytes: 0, text: '' };
  try {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        authorization: `Bearer ${apiKey}`,
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
      if (events > EVENTS) break;
    }
  } catch {
    // The limit ends a stream with fewer events.
  }
  return largest;
}

/** Deploys to the heavy bot and runs it, so that each of its subscriptions has events. */
async function changeThings({ url, apiKey, signal }: DocumentTarget): Promise<void> {
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
  await post(url, apiKey, { query, variables }, signal);
}
