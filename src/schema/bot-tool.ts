import type { BotTool } from '../agent/bot-tools.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

const BotToolObject = builder.objectRef<BotTool>('BotTool').implement({
  description: 'A bot as a tool of other agents, as its active production deployment defines it.',
  fields: (t) => ({
    description: t.exposeString('description', {
      nullable: true,
      description:
        'The description in the definition, at most 2,000 characters. Null if the definition has none.',
    }),
    outputSchema: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'JSON Schema of a structured reply, at most 16 KiB: a longer one is only `{"type": "object"}`. Null if the reply is text.',
      resolve: ({ outputSchema }) => outputSchema,
    }),
    readOnly: t.exposeBoolean('readOnly', {
      description: 'Whether no tool of the bot changes something in another system.',
    }),
  }),
});

const loadTool = batchLoader(async (botIds, _question: null, { botTools }) => {
  const tools = await botTools.find(botIds);
  return (id) => tools.get(id) ?? null;
});

builder.prismaObjectField('Bot', 'tool', (t) =>
  t.field({
    type: BotToolObject,
    nullable: true,
    description:
      'The bot as a tool of other agents. Null unless it has a valid production deployment.',
    resolve: ({ id }, _args, context, info) => loadTool(id, null, context, info),
  }),
);
