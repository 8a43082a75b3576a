import { namesOf } from './names.ts';

/** The interfaces through which clients request runs. */
export const ENTRANCES = {
  REST: { description: 'The REST API.' },
  GRAPHQL: {
    description: 'The GraphQL API, also from the console and from pages with a session token.',
  },
  OPENAI: { description: 'OpenAI’s API: chat completions and responses.' },
  MCP: { description: 'The Model Context Protocol.' },
  WEB: { description: 'The hosted chat page.' },
  TELEGRAM: { description: 'A Telegram bot.' },
} as const;

export const ENTRANCE_NAMES = namesOf(ENTRANCES);
