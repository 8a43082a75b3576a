import { namesOf } from './names.ts';

/** The channels through which users reach a bot. */
export const CHANNELS = {
  API: { description: 'The REST and GraphQL APIs.' },
  WEB: { description: 'The hosted chat page.' },
  TELEGRAM: { description: 'A Telegram bot.' },
} as const;

export const CHANNEL_NAMES = namesOf(CHANNELS);
