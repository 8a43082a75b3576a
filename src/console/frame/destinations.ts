import type { IconName } from '../parts/icon.tsx';
import { addressOf, ROWS, screenAt } from '../screens.ts';

/** A place that the navigation leads to. */
export type Destination = {
  /** The name of the screen. */
  name: string;
  href: string;
  icon: IconName;
  label: string;
  isPage?: boolean | undefined;
  isInBar: boolean;
};

/** The places of the navigation, with the places of a bot if one is shown. */
export function destinationsOf(botId: string | undefined) {
  const placesIn = (part: 'general' | 'bot' | 'reference') =>
    ROWS.flatMap(({ name, path, title, icon, navigation, isPage, isInBar }): Destination[] => {
      if (navigation !== part || !icon || (part === 'bot' && !botId)) return [];
      // Beside a bot, the bar has room for only the places of this bot.
      const hasRoom = (part === 'bot') === (botId !== undefined);
      const href = addressOf(path, botId);
      return [{ name, href, icon, label: title, isPage, isInBar: hasRoom && isInBar === true }];
    });
  return { general: placesIn('general'), bot: placesIn('bot'), reference: placesIn('reference') };
}

/** Whether an address belongs to a destination. The page of a run belongs to the runs of its bot. */
export function isAt({ name }: Destination, address: string): boolean {
  const screen = screenAt(address);
  return screen !== undefined && [screen.name, screen.parent].includes(name);
}
