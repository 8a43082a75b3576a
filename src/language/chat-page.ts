import type { Definition } from './definition.ts';

/** What a definition says of its chat page. */
export type ChatPageTexts = {
  /** Name of the agent, at most 200 characters. */
  name: string;
  /** The title, or else the name. */
  title: string;
  /** The colour of the page, as `#rrggbb`. */
  accent: string | undefined;
  /** Shown before the first message, at most 2,000 characters. */
  welcome: string | undefined;
  /** Offered as first messages, at most 8 of 200 characters. */
  suggestions: string[];
};

/** @returns `undefined` if the definition has no `channel web`. */
export function chatPageOf({ name, channels }: Definition): ChatPageTexts | undefined {
  const channel = channels.find((found) => found.type === 'web');
  if (!channel) return undefined;
  const { title = name, accent, welcome, suggestions } = channel;
  return { name, title, accent, welcome, suggestions };
}
