import { notFound } from '../errors/errors.ts';
import { Prisma } from '../generated/prisma/client.ts';
import { readToolRequest } from '../runs/tool-calls/tool-call.ts';
import { APPROVAL_STATUSES } from '../vocabulary/approvals.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { readWithin } from './long-columns.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';
import { demandIn } from './selection.ts';
import { loadSession, SessionNode } from './session.ts';
import { ChannelEnum, EnvironmentEnum } from './shared.ts';
import { loadToolCall, readToolArguments, ToolCallObject, ToolRequestObject } from './tool-call.ts';

export const ApprovalStatusEnum = builder.enumType('ApprovalStatus', {
  description: 'State of an approval. All but WAITING are final.',
  values: APPROVAL_STATUSES,
});

type Texts = { arguments: string | null; editedArguments: string | null; request: unknown };

/**
 * Loads the long texts of approvals.
 *
 * @throws GatewayError `request_too_large` beyond the read budget.
 */
const loadTexts = batchLoader(async (ids, { copies }: { copies: number }, context, { timesOf }) => {
  const times = ids.map(timesOf);
  const rows = Prisma.sql`
    SELECT id, arguments, edited_arguments AS "editedArguments", request,
      times * ${copies}::float8 * (COALESCE(octet_length(arguments), 0) + COALESCE(octet_length(edited_arguments), 0)
        + COALESCE(octet_length(request::text), 0)) AS bytes
    FROM unnest(${ids}::text[], ${times}::int[]) AS wanted(wanted, times) JOIN approvals ON id = wanted`;
  const budget = context.readBudget();
  const found = await budget.inTurn(() =>
    readWithin<Texts & { id: string }>(context, budget, rows),
  );
  const byId = new Map(found.map((row) => [row.id, row]));
  return (id): Texts => byId.get(id) ?? { arguments: null, editedArguments: null, request: null };
});

/**
 * Loads the JSON Schemas of the arguments of approvals.
 *
 * @throws GatewayError `request_too_large` beyond the read budget.
 */
const loadInputSchema = batchLoader(
  (keys, { copies }: { copies: number }, { approvals, readBudget }, { timesOf }) => {
    const budget = readBudget();
    return budget.inTurn(async () => {
      const schemas = await approvals.inputSchemasOf(keys.map((key) => JSON.parse(key)));
      const bytes = schemas.map((schema) => Buffer.byteLength(JSON.stringify(schema)));
      const times = keys.map(timesOf);
      const demanded = bytes.map((size, index) => copies * size * (times[index] ?? 0));
      budget.spend(sum(demanded), sum(times));
      const byKey = new Map(keys.map((key, index) => [key, schemas[index]]));
      return (key: string) => byKey.get(key) ?? null;
    });
  },
);

const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);

export const ApprovalObject = builder.prismaObject('Approval', {
  description:
    'A tool call that waits for a person, or that a person has decided. Its texts hold no values of variables.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier: the ID of the tool call.' }),
    bot: t.relation('bot', { description: 'The bot whose call it is.' }),
    name: t.exposeString('name', { description: 'Name of the tool, as `<group>.<capability>`.' }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'The sentence of the definition for the person who decides. Null without one.',
    }),
    arguments: t.field({
      type: 'JSON',
      nullable: true,
      description: 'Arguments from the model. Null once they are deleted.',
      resolve: async ({ id }, _args, context, info) => {
        const { arguments: text } = await loadTexts(id, demandIn(info, context), context, info);
        return text === null ? null : readToolArguments(text);
      },
    }),
    editedArguments: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'Arguments that the person who approved the call sent in place of `arguments`. Null if there are none.',
      resolve: async ({ id }, _args, context, info) => {
        const { editedArguments } = await loadTexts(id, demandIn(info, context), context, info);
        return editedArguments === null ? null : readToolArguments(editedArguments);
      },
    }),
    request: t.field({
      type: ToolRequestObject,
      nullable: true,
      description:
        'The HTTP request that is sent once the call is approved. Null for a tool of an MCP server.',
      resolve: async ({ id }, _args, context, info) =>
        readToolRequest((await loadTexts(id, demandIn(info, context), context, info)).request),
    }),
    inputSchema: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'JSON Schema of the arguments of a capability, for a form. Null for a tool of an MCP server, and if the deployment is gone or not valid in this version of Parley.',
      select: { name: true, deploymentId: true },
      resolve: ({ deploymentId, name }, _args, context, info) => {
        const key = JSON.stringify({ deploymentId, name });
        return loadInputSchema(key, { copies: demandIn(info, context).copies }, context, info);
      },
    }),
    status: t.expose('status', { type: ApprovalStatusEnum, description: 'State.' }),
    note: t.exposeString('note', {
      nullable: true,
      description: 'Note of the person who decided, at most 2,000 characters.',
    }),
    environment: t.expose('environment', {
      type: EnvironmentEnum,
      description: 'Environment of the run that asked.',
    }),
    channel: t.expose('channel', {
      type: ChannelEnum,
      description: 'Channel of the run that asked.',
    }),
    user: t.exposeString('sessionId', {
      nullable: true,
      description:
        'The end user, identified by the session ID. Null for a run outside any conversation.',
    }),
    session: t.field({
      type: SessionNode,
      nullable: true,
      description:
        'The conversation. Its messages require the scope RUNS. Null for a run outside any conversation.',
      select: { botId: true, sessionId: true, environment: true },
      resolve: ({ botId, sessionId, environment }, _args, context, info) =>
        sessionId === null ? null : loadSession({ botId, sessionId, environment }, context, info),
    }),
    runId: t.exposeID('runId', { description: 'ID of the run that asked.' }),
    followUpRunId: t.exposeID('followUpId', {
      nullable: true,
      description: 'ID of the run that told the user the outcome. Null until that run exists.',
    }),
    call: t.field({
      type: ToolCallObject,
      nullable: true,
      description: 'The tool call, with its result once it was sent.',
      resolve: ({ id }, _args, context, info) =>
        loadToolCall(id, demandIn(info, context), context, info),
    }),
    decidedById: t.exposeID('decidedById', {
      nullable: true,
      description:
        'ID of the API key that decided. Null before that, after the expiry, and for a decision in a chat of Telegram.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the question.' }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      description: 'Time after which nobody can decide any more.',
    }),
    decidedAt: t.expose('decidedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Time of the decision or the expiry. Null before that.',
    }),
  }),
});

/** Whether a conversation has a call that waits. */
const loadWaits = batchLoader(async (keys, _question: null, { prisma }) => {
  const rows = await prisma.$queryRaw<{ id: string }[]>`
    SELECT id FROM sessions WHERE id = ANY(${keys}) AND EXISTS (
      SELECT 1 FROM approvals WHERE approvals.bot_id = sessions.bot_id AND approvals.environment = sessions.environment
        AND approvals.session_id = sessions.session_id AND settled_at IS NULL)`;
  const waiting = new Set(rows.map(({ id }) => id));
  return (id) => waiting.has(id);
});

builder.prismaObjectField('Session', 'waitsForApproval', (t) =>
  t.boolean({
    description:
      'Whether a tool call of the conversation waits for a person, or no run has reported its outcome to the user yet. `sessionChanged` emits the conversation when one has.',
    resolve: ({ id }, _args, context, info) => loadWaits(id, null, context, info),
  }),
);

builder.queryField('approval', (t) =>
  t.prismaField({
    type: ApprovalObject,
    nullable: true,
    description:
      'Retrieves a tool call that waits for a person, or that a person has decided. Requires the scope APPROVE. Error: APPROVAL_NOT_FOUND, also if it belongs to a bot other than `botId`.',
    authScopes: scopeOfBot('APPROVE'),
    args: {
      id: t.arg.id({ required: true, description: 'ID of the tool call.' }),
      botId: t.arg.id({
        description: 'ID of the bot that it must belong to. Defaults to any bot.',
      }),
    },
    resolve: async (query, _root, { id, botId }, { caller, prisma }) => {
      const where = visibleById({ id, botId }, caller());
      const approval = await prisma.approval.findFirst({ ...query, where });
      if (approval) return approval;
      throw notFound('approval', id);
    },
  }),
);
