import { MessageRole, Prisma } from '../generated/prisma/client.ts';
import { MESSAGES } from '../sessions/history.ts';
import { readLists } from '../storage/lists.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';
import { connectionLoader } from './connection-loader.ts';
import { longColumns, TEXT } from './long-columns.ts';

const MESSAGE_TEXTS = longColumns('Message', Prisma.sql`messages`, { text: 'text' });

/** Loads the name of the tool call that each message answers, from the message of the model that made the call. */
const loadToolName = batchLoader(async (ids, _question: null, { prisma }) => {
  const rows = await prisma.$queryRaw<{ id: string; name: string }[]>`
    SELECT DISTINCT ON (answer.id) answer.id, call->>'name' AS name
    FROM messages AS answer
      JOIN messages AS caller ON caller.session_key = answer.session_key AND caller.turn = answer.turn
        AND caller.position < answer.position AND caller.role = 'ASSISTANT'
      CROSS JOIN LATERAL jsonb_array_elements(caller.tool_calls) AS call
    WHERE answer.id = ANY(${ids}) AND call->>'id' = answer.tool_call_id
    ORDER BY answer.id, caller.position DESC`;
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return (id) => names.get(id) ?? null;
});

const MessageRoleEnum = builder.enumType('MessageRole', {
  description: 'Author of a message.',
  values: {
    USER: { value: MessageRole.USER, description: 'The end user.' },
    ASSISTANT: { value: MessageRole.ASSISTANT, description: 'The bot.' },
    TOOL: { value: MessageRole.TOOL, description: 'A tool that the bot called.' },
    SYSTEM: {
      value: MessageRole.SYSTEM,
      description: 'The server, with a notice for the bot, such as the outcome of an approval.',
    },
  },
});

export const MessageObject = builder.prismaObject('Message', {
  description: 'A message of a conversation.',
  select: { id: true },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unique identifier. Opaque; it never changes.' }),
    role: t.expose('role', { type: MessageRoleEnum, description: 'Author of the message.' }),
    text: t.string({
      description: 'Text of the message.',
      select: { id: true },
      resolve: async (message, _args, context, info) =>
        TEXT.parse(await MESSAGE_TEXTS.read(message, 'text', context, info)),
    }),
    toolName: t.string({
      nullable: true,
      description:
        'Name of the tool whose result the message is, as `<group>.<capability>`. Null unless the role is TOOL.',
      select: { id: true, role: true },
      resolve: ({ id, role }, _args, context, info) =>
        role === 'TOOL' ? loadToolName(id, null, context, info) : null,
    }),
    run: t.relation('run', { description: 'The run that the message belongs to.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of creation.' }),
  }),
});

/** Session tokens see no messages of tools and of the server: these are for the model only. */
const SHOWN_TO_PAGES = [Prisma.sql`role <> 'TOOL' AND role <> 'SYSTEM'`];

/** Loads a page of the messages of a session. */
export const loadMessages = connectionLoader({
  type: 'Message',
  order: MESSAGES,
  select: { id: true },
  texts: MESSAGE_TEXTS,
  find: ({ prisma, session }, sessionKeys, page) =>
    readLists(prisma, MESSAGES, sessionKeys, page, session() && SHOWN_TO_PAGES),
  read: ({ prisma }, query) => prisma.message.findMany(query),
});
