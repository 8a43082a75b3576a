import type { Environment, KeyScope } from '../../generated/operations/console.ts';
import type { IconName } from '../parts/icon.tsx';
import { addressOf, ROWS, screenAt } from '../screen-addresses.ts';
import { environmentQuery } from './environments.ts';

/** A place that the navigation leads to. */
export type Destination = {
  /** The name of the screen. */
  name: string;
  href: string;
  icon: IconName;
  label: string;
  isPage?: boolean | undefined;
  isInBar: boolean;
  /** The number of things that wait there for a person. */
  count: number;
};

/**
 * The places of the navigation that the scopes allow, with the places of a bot if one is shown.
 *
 * @param environment the chosen one, which the links to the places of the bot keep.
 * @param counts what waits for a person, by the names of screens.
 */
export function destinationsOf(
  botId: string | undefined,
  environment: Environment | undefined,
  scopes: readonly KeyScope[],
  counts: Readonly<Record<string, number>>,
) {
  const placesIn = (part: 'general' | 'bot' | 'reference') =>
    ROWS.flatMap((row): Destination[] => {
      const { name, path, title, icon, navigation, needs, isPage } = row;
      if (navigation !== part || !icon || (part === 'bot' && !botId)) return [];
      if (needs && !scopes.includes(needs)) return [];
      // Beside a bot, the bar has room for only the places of this bot.
      const hasRoom = (part === 'bot') === (botId !== undefined);
      const query = part === 'bot' ? environmentQuery(environment) : '';
      const href = addressOf(path, botId) + query;
      const isInBar = hasRoom && row.isInBar === true;
      return [{ name, href, icon, label: title, isPage, isInBar, count: counts[name] ?? 0 }];
    });
  return { general: placesIn('general'), bot: placesIn('bot'), reference: placesIn('reference') };
}

/** Whether an address belongs to a destination. The page of a run belongs to the runs of its bot. */
export function isAt({ name }: Destination, address: string): boolean {
  const screen = screenAt(address);
  return screen !== undefined && [screen.name, screen.parent].includes(name);
}
