import { Prisma, type ToolCallStatus } from '../generated/prisma/client.ts';
import { readToolRequest, type ToolRequest } from '../runs/tool-calls/tool-call.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';
import { TOOL_CALL_STATUSES } from '../vocabulary/runs.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { readWithin } from './long-columns.ts';
import type { Demand } from './read-budget.ts';
import { demandIn } from './selection.ts';

/** A tool call as its table stores it. */
type ToolCallRow = {
  id: string;
  runId: string;
  position: number;
  callId: string;
  name: string;
  arguments: string | null;
  request: unknown;
  status: ToolCallStatus;
  result: string | null;
  httpStatus: number | null;
  idempotencyKey: string | null;
  startedAt: Date;
  finishedAt: Date | null;
};

export const ToolCallStatusEnum = builder.enumType('ToolCallStatus', {
  description: 'State of a tool call.',
  values: TOOL_CALL_STATUSES,
});

export const ToolRequestObject = builder.objectRef<ToolRequest>('ToolRequest').implement({
  description: 'The HTTP request of a tool call, without values of variables.',
  fields: (t) => ({
    method: t.exposeString('method', { description: 'Method, such as `POST`.' }),
    url: t.exposeString('url', { description: 'URL with its query.' }),
    body: t.exposeString('body', {
      nullable: true,
      description:
        'Body, at most 48 Ki characters: the end of a longer one says that it was cut. Null if there is none.',
    }),
  }),
});

export const ToolCallObject = builder.objectRef<ToolCallRow>('ToolCall').implement({
  description:
    'A tool call of a run. Its texts hold no values of variables; they are deleted after 30 days by default (`PARLEY_TOOL_CALL_DAYS`).',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    position: t.exposeInt('position', {
      description: 'Position in the calls of the run, starting at 0.',
    }),
    callId: t.exposeString('callId', {
      description: "The model's ID of the call. The events of the call carry the same value.",
    }),
    name: t.exposeString('name', { description: 'Name of the tool, as `<group>.<capability>`.' }),
    arguments: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Arguments from the model: a JSON object, empty if they were no JSON object or larger than 64 KiB. Null if they are not stored.',
      resolve: ({ arguments: text }) => (text === null ? null : readToolArguments(text)),
    }),
    request: t.field({
      type: ToolRequestObject,
      nullable: true,
      description:
        'The HTTP request of a capability. Null for other tools, for a call that was not sent, and if it is not stored.',
      resolve: ({ request }) => readToolRequest(request),
    }),
    status: t.expose('status', { type: ToolCallStatusEnum, description: 'State of the call.' }),
    result: t.exposeString('result', {
      nullable: true,
      description:
        'The result or the error, as the model got it: at most 64 KiB. Null while the call is in progress, and if it is not stored.',
    }),
    httpStatus: t.exposeInt('httpStatus', {
      nullable: true,
      description: 'Status of the HTTP response. Null if there was none.',
    }),
    idempotencyKey: t.exposeString('idempotencyKey', {
      nullable: true,
      description:
        'The `Idempotency-Key` of the request, unless the definition sets that header. Null for a call that only reads.',
    }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'Time of the call.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time at which the call ended. Null before that, and if it is not known.',
    }),
    durationMs: t.int({
      nullable: true,
      description: 'Duration of the call in milliseconds. Null while its end is not known.',
      resolve: ({ startedAt, finishedAt }) =>
        finishedAt && Math.max(finishedAt.getTime() - startedAt.getTime(), 0),
    }),
  }),
});

/** The arguments of a call from their stored text. */
export function readToolArguments(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

const COLUMNS = Prisma.sql`id, run_id AS "runId", position, call_id AS "callId", name, arguments, request, status, result,
  http_status AS "httpStatus", idempotency_key AS "idempotencyKey", started_at AS "startedAt", finished_at AS "finishedAt"`;

const TEXT_BYTES = Prisma.sql`(COALESCE(octet_length(arguments), 0) + COALESCE(octet_length(request::text), 0)
  + COALESCE(octet_length(result), 0))::float8`;

/**
 * Loads the tool calls of runs.
 *
 * @throws GatewayError `request_too_large` beyond the read budget.
 */
const loadToolCalls = batchLoader(
  async (runIds, { copies, entryBytes }: Demand, context, { timesOf }) => {
    const times = runIds.map(timesOf);
    const rows = Prisma.sql`
      SELECT ${COLUMNS}, times * (${entryBytes}::float8 + ${copies}::float8 * ${TEXT_BYTES}) AS bytes
      FROM unnest(${runIds}::text[], ${times}::int[]) AS run(run, times) JOIN tool_calls ON run_id = run
      ORDER BY run_id, position`;
    const budget = context.readBudget();
    const found = await budget.inTurn(() => readWithin<ToolCallRow>(context, budget, rows));
    const byRun = Map.groupBy(found, ({ runId }) => runId);
    return (runId) => byRun.get(runId) ?? [];
  },
);

/** Loads a tool call by its id; null if it is deleted. */
export const loadToolCall = batchLoader(
  async (ids, { copies, entryBytes }: Demand, context, { timesOf }) => {
    const times = ids.map(timesOf);
    const rows = Prisma.sql`
      SELECT ${COLUMNS}, times * (${entryBytes}::float8 + ${copies}::float8 * ${TEXT_BYTES}) AS bytes
      FROM unnest(${ids}::text[], ${times}::int[]) AS call(call, times) JOIN tool_calls ON id = call`;
    const budget = context.readBudget();
    const found = await budget.inTurn(() => readWithin<ToolCallRow>(context, budget, rows));
    const byId = new Map(found.map((row) => [row.id, row]));
    return (id) => byId.get(id) ?? null;
  },
);

/** Loads the texts of tool calls by the ids of their records, for events that no longer carry them. */
export const loadToolTexts = batchLoader(
  async (ids, column: 'arguments' | 'result', context, { timesOf }) => {
    const times = ids.map(timesOf);
    const text = Prisma.raw(column);
    const rows = Prisma.sql`
      SELECT id, ${text} AS text, times * COALESCE(octet_length(${text}), 0)::float8 AS bytes
      FROM unnest(${ids}::text[], ${times}::int[]) AS call(call, times) JOIN tool_calls ON id = call`;
    const budget = context.readBudget();
    const found = await budget.inTurn(() =>
      readWithin<{ id: string; text: string | null }>(context, budget, rows),
    );
    const texts = new Map(found.map((row) => [row.id, row.text]));
    return (id) => texts.get(id) ?? null;
  },
);

builder.prismaObjectField('Run', 'toolCalls', (t) =>
  t.field({
    type: [ToolCallObject],
    description:
      'Tool calls of the run, in order: of all attempts, with refused calls. While the run is active, only calls that may change something. Empty for a run of version 0.2. Requires the scope RUNS, also in the response of the operation that started the run.',
    authScopes: { scope: 'RUNS' },
    resolve: ({ id }, _args, context, info) =>
      loadToolCalls(id, demandIn(info, context), context, info),
  }),
);

/** Counts the failed tool calls of each run. */
const countFailed = batchLoader(async (runIds, _question: null, { prisma }) => {
  const counts = await prisma.toolCall.groupBy({
    by: ['runId'],
    where: { runId: { in: runIds }, status: 'FAILED' },
    _count: true,
  });
  const byRun = new Map(counts.map(({ runId, _count }) => [runId, _count]));
  return (runId) => byRun.get(runId) ?? 0;
});

builder.prismaObjectField('Run', 'failedToolCalls', (t) =>
  t.int({
    description:
      'Number of tool calls of the run that failed: a run with failed calls may complete. 0 for a run of version 0.2. Requires the scope RUNS, also in the response of the operation that started the run.',
    authScopes: { scope: 'RUNS' },
    resolve: ({ id }, _args, context, info) => countFailed(id, null, context, info),
  }),
);
