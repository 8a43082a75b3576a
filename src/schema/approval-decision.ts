import { actorOf } from '../accounts/audit.ts';
import { GatewayError, notFound } from '../errors/errors.ts';
import { decisionArguments, note as validNote } from '../text/input.ts';
import { isJsonObject } from '../text/json.ts';
import { DECISIONS } from '../vocabulary/approvals.ts';
import { ApprovalObject } from './approval.ts';
import { builder } from './builder.ts';
import { scopeOfBot, visibleById } from './of-bot.ts';
import { demandIn } from './selection.ts';
import { ToolRequestObject } from './tool-call.ts';

const ApprovalDecisionEnum = builder.enumType('ApprovalDecision', {
  description: 'Decision of a person on a tool call.',
  values: DECISIONS,
});

builder.mutationField('decideApproval', (t) =>
  t.prismaField({
    type: ApprovalObject,
    description:
      'Decides on a tool call that waits for a person. A decision is final: repeating it returns the same approval, and a different decision fails with ALREADY_DECIDED. An approved call is sent once, with the variables of the deployment that asked. Then a run tells the user the outcome. Requires the scope APPROVE. Errors: APPROVAL_NOT_FOUND; ALREADY_DECIDED; TOOL_GONE, if an approved call can no longer be made; INVALID_REQUEST, if the arguments do not fit the declaration of the tool.',
    authScopes: scopeOfBot('APPROVE'),
    args: {
      id: t.arg.id({ required: true, description: 'ID of the tool call.' }),
      botId: t.arg.id({
        description: 'ID of the bot that it must belong to. Defaults to any bot.',
      }),
      decision: t.arg({ type: ApprovalDecisionEnum, required: true, description: 'The decision.' }),
      note: t.arg.string({
        description: 'Note for the user and the log, at most 2,000 characters. Defaults to none.',
        validate: { schema: validNote },
      }),
      arguments: t.arg({
        type: 'JSON',
        description:
          'Arguments in place of all arguments of the model, at most 64 KiB. Only with APPROVE. Defaults to the model’s arguments.',
        validate: { schema: decisionArguments },
      }),
    },
    resolve: async (query, _root, { id, botId, ...decision }, context) => {
      const { approvals, caller, prisma, signal } = context;
      const where = visibleById({ id, botId }, caller());
      const visible = await prisma.approval.findFirst({ where, select: { id: true } });
      if (!visible) throw notFound('approval', id);
      const { note, arguments: replaced } = decision;
      const made = {
        decision: decision.decision,
        note: note ?? undefined,
        arguments: isJsonObject(replaced) ? replaced : undefined,
      };
      await approvals.decide(id, made, actorOf(caller()), signal);
      return prisma.approval.findUniqueOrThrow({ ...query, where: { id } });
    },
  }),
);

builder.queryField('approvalRequest', (t) =>
  t.field({
    type: ToolRequestObject,
    nullable: true,
    description:
      'Composes the HTTP request that a tool call would send with other arguments, and sends nothing. Null for a tool of an MCP server. Requires the scope APPROVE. Errors: APPROVAL_NOT_FOUND; TOOL_GONE, if the deployment or its tool is gone; INVALID_REQUEST, if the arguments do not fit the declaration of the tool.',
    authScopes: scopeOfBot('APPROVE'),
    args: {
      id: t.arg.id({ required: true, description: 'ID of the tool call.' }),
      botId: t.arg.id({
        description: 'ID of the bot that it must belong to. Defaults to any bot.',
      }),
      arguments: t.arg({
        type: 'JSON',
        required: true,
        description: 'Arguments in place of all arguments of the model, at most 64 KiB.',
        validate: { schema: decisionArguments },
      }),
    },
    resolve: async (_root, { id, botId, ...given }, context, info) => {
      const { approvals, caller, prisma, readBudget, signal } = context;
      const where = visibleById({ id, botId }, caller());
      const select = { deploymentId: true, name: true, values: true };
      const approval = await prisma.approval.findFirst({ where, select });
      if (!approval) throw notFound('approval', id);
      const edited = isJsonObject(given.arguments) ? given.arguments : {};
      const request = await approvals.requestWith(approval, edited, signal);
      const bytes = Buffer.byteLength(JSON.stringify(request));
      const budget = readBudget();
      await budget.inTurn(async () => budget.spend(demandIn(info, context).copies * bytes, 1));
      return request;
    },
  }),
);

builder.subscriptionField('approvalChanged', (t) =>
  t.prismaField({
    type: ApprovalObject,
    description:
      'Emits a tool call of the bot when it begins to wait for a person, is decided or expires, and when the run that tells the user has ended. A slow subscriber receives only the latest state, and events can repeat. Requires the scope APPROVE.',
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'APPROVE' } }),
    args: { botId: t.arg.id({ required: true, description: 'ID of the bot.' }) },
    subscribe: (_root, { botId }, { approvals, signal }) => approvals.follow(botId, signal),
    resolve: async (query, { message: id, once }, _args, { prisma }) => {
      const approval = await once(JSON.stringify(query), () =>
        prisma.approval.findUnique({ ...query, where: { id } }),
      );
      if (approval) return approval;
      throw new GatewayError('approval_not_found', `The approval "${id}" no longer exists.`);
    },
  }),
);
