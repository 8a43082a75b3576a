import { AUDIT_LOG, type AuditFilter, findAuditEntries } from '../accounts/audit-list.ts';
import type { AuditAction } from '../generated/prisma/client.ts';
import type { PageArguments } from '../storage/keyset.ts';
import { text } from '../text/input.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';

const AuditActionEnum = builder.enumType('AuditAction', {
  description: 'A change. Most are named after their mutation.',
  values: {
    CREATE_ACCOUNT: { description: 'An operator created the account.' },
    UPDATE_ACCOUNT: { description: 'An operator changed the name, plan or limits of the account.' },
    SUSPEND_ACCOUNT: { description: 'An operator suspended the account.' },
    RESUME_ACCOUNT: { description: 'An operator resumed the account.' },
    DELETE_ACCOUNT: { description: 'An operator deleted the account.' },
    CREATE_API_KEY: { description: 'An API key was created.' },
    UPDATE_API_KEY: { description: 'The name, scopes, bots or expiry of an API key changed.' },
    ROTATE_API_KEY: { description: 'An API key was replaced. The target is the replaced key.' },
    REVOKE_API_KEY: { description: 'An API key was revoked.' },
    CREATE_BOT: { description: 'A bot was created.' },
    UPDATE_BOT: { description: 'A bot changed.' },
    DELETE_BOT: { description: 'A bot was deleted with its conversations and runs.' },
    DEPLOY: { description: 'A definition was deployed.' },
    DEPLOY_FAILED: {
      description:
        'A deploy, a rollback or a promotion failed, and changed nothing. The target is the failed deployment.',
    },
    SKIP_GATE: {
      description:
        'A deploy or a promotion skipped the gate of the bot. The target is the new deployment, whose `message` has the reason.',
    },
    ROLLBACK: { description: 'A bot was rolled back. The target is the new deployment.' },
    PROMOTE: {
      description: 'A staging deployment was promoted. The target is the new deployment.',
    },
    SET_MEMORY: { description: 'A fact about a user was stored or deleted.' },
    FORGET_SESSION: { description: 'A conversation was deleted with its memory.' },
    ASK_APPROVAL: {
      description:
        'A tool call began to wait for the approval of a person. The target is the call.',
    },
    APPROVE_CALL: { description: 'A tool call was approved. The target is the call.' },
    DENY_CALL: { description: 'A tool call was denied. The target is the call.' },
    EXPIRE_APPROVAL: {
      description: 'Nobody decided on a tool call in time. The target is the call.',
    },
  } satisfies Record<AuditAction, { description: string }>,
});

const AuditEntry = builder.prismaObject('AuditEntry', {
  description:
    'An entry of the audit log: the action, its key and its object. It contains no values.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    action: t.expose('action', { type: AuditActionEnum, description: 'The action.' }),
    keyId: t.exposeID('keyId', {
      nullable: true,
      description:
        'ID of the API key that made the change. Null if an operator of another account, a user of a channel or the server made it.',
    }),
    botId: t.exposeID('botId', {
      nullable: true,
      description: 'ID of the bot that the target is or belongs to. Null for other targets.',
    }),
    targetId: t.exposeID('targetId', {
      description:
        'ID of the changed account, key, bot, deployment, session or tool call, which may no longer exist.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the change.' }),
  }),
});

const AuditFilterInput = builder.inputType('AuditFilter', {
  description: 'Conditions on entries of the audit log. An entry must match all of them.',
  fields: (t) => ({
    action: t.field({
      type: [AuditActionEnum],
      description: 'Returns only entries with one of these actions.',
      validate: {
        minLength: [1, { message: 'must not be empty' }],
        maxLength: [20, { message: 'must be at most 20' }],
      },
    }),
    keyId: t.id({
      description: 'Returns only entries of this API key.',
      validate: { schema: text },
    }),
    botId: t.id({
      description: 'Returns only entries of this bot.',
      validate: { schema: text },
    }),
    from: t.field({ type: 'DateTime', description: 'Returns only entries at or after this time.' }),
    to: t.field({ type: 'DateTime', description: 'Returns only entries before this time.' }),
  }),
});

type LogArguments = PageArguments & { filter?: AuditFilter | null };

const loadAuditLog = connectionLoader({
  type: 'AuditEntry',
  order: AUDIT_LOG,
  find: ({ prisma, caller }, accountIds, page, { filter }: LogArguments) =>
    findAuditEntries(prisma, caller(), accountIds, page, filter ?? {}),
  read: ({ prisma }, query) => prisma.auditEntry.findMany(query),
});

builder.prismaObjectField('Account', 'auditLog', (t) =>
  t.connection(
    {
      type: AuditEntry,
      description:
        'The changes by operators and by keys of the account in the last 400 days, newest first. A key that is restricted to some bots sees only the entries of these bots. Requires the scope ADMIN.',
      authScopes: { scope: 'ADMIN' },
      args: {
        filter: t.arg({
          type: AuditFilterInput,
          description: 'Conditions that each entry must match. Defaults to all entries.',
        }),
      },
      resolve: ({ id }, args, context, info) => loadAuditLog(id, args, context, info),
    },
    { name: 'AuditLogConnection' },
    { name: 'AuditLogEdge' },
  ),
);
