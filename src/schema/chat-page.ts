import type { ChatPage } from '../channels/web/chat-pages.ts';
import { logoUrlOf } from '../channels/web/logos.ts';
import { batchLoader } from './batch-loader.ts';
import { builder } from './builder.ts';

const ChatPageObject = builder.objectRef<ChatPage>('ChatPage').implement({
  description: 'The beginning of a conversation on the chat page of a bot, from its `channel web`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the agent, at most 200 characters.' }),
    title: t.exposeString('title', {
      description: "Title of the page, at most 60 characters. Defaults to the agent's name.",
    }),
    accent: t.string({
      nullable: true,
      description:
        'Colour of the page, as `#rrggbb`. Null if the definition has none: the page has the colour of Parley.',
      resolve: ({ accent }) => accent,
    }),
    welcome: t.string({
      nullable: true,
      description:
        'Text before the first message, at most 2,000 characters. Null if the definition has none.',
      resolve: ({ welcome }) => welcome,
    }),
    suggestions: t.exposeStringList('suggestions', {
      description: 'Texts that are offered as the first message, at most 8 of 200 characters.',
    }),
  }),
});

const loadPage = batchLoader(async (botIds, _question: null, { chatPages }) => {
  const pages = await chatPages.find(botIds);
  return (id) => pages.get(id) ?? null;
});

builder.prismaObjectFields('Bot', (t) => ({
  chatPage: t.field({
    type: ChatPageObject,
    nullable: true,
    description:
      'The content of the chat page of the bot. Null unless the active production deployment has the channel WEB.',
    resolve: ({ id }, _args, context, info) => loadPage(id, null, context, info),
  }),
  webUrl: t.string({
    nullable: true,
    description:
      'Address of the chat page of the bot. The page exists while the active production deployment has the channel WEB. Null if the server has no PUBLIC_URL.',
    resolve: ({ id }, _args, { chatPages }) => chatPages.urlOf(id),
  }),
  logoUrl: t.string({
    nullable: true,
    description:
      'Address of the logo of the chat page, relative to the server. It changes with the logo. Null if the bot has none: the page shows the first letter of its title.',
    select: { id: true, logoHash: true },
    resolve: (bot) => logoUrlOf(bot),
  }),
  webOrigins: t.exposeStringList('webOrigins', {
    description:
      'Origins of the pages that may contain the chat page, or `*` for every page. If the list is empty, no other page may contain it.',
  }),
  visitorSessionsPerHour: t.exposeInt('visitorSessionsPerHour', {
    description: 'New sessions that visitors from one address may begin in a UTC hour.',
  }),
  visitorMessagesPerMinute: t.exposeInt('visitorMessagesPerMinute', {
    description: 'Messages that visitors from one address may send in a UTC minute.',
  }),
}));
