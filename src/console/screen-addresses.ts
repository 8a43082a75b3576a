import { SCREENS, type ScreenRow } from './screens.ts';

/** The rows of the table with their names. */
export const ROWS = Object.entries<ScreenRow>(SCREENS).map(([name, row]) => ({ name, ...row }));

/** Addresses without a screen, each with the address that the console opens in its place. */
export const REDIRECTS: [path: string, to: string][] = [
  ['/', '/bots'],
  ['/sign-in', '/bots'],
];

/** Whether an address belongs to a pattern of the table. */
export function matches(path: string, address: string): boolean {
  const pattern = path
    .replace('/*?', '(/.*)?')
    .replace(/\/:\w+\?/, '(/[^/]+)?')
    .replaceAll(/:\w+/g, '[^/]+');
  return new RegExp(`^${pattern}/?$`).test(address);
}

/** Whether an address belongs to a screen, or leads to one. A section of the settings must exist. */
export function isScreen(address: string): boolean {
  const paths = [...ROWS.map(({ path }) => path), ...REDIRECTS.map(([path]) => path)];
  return paths.some((path) => !path.includes('*') && matches(path, address));
}

/** Finds the screen of an address. The sections of the settings are one screen. */
export function screenAt(address: string) {
  return ROWS.find(({ path }) => matches(path, address));
}

/** The address of a screen without its optional parts. @param botId of the bot, if the pattern has one. */
export function addressOf(path: string, botId = ''): string {
  return path.replace(/\/[:*]\w*\?/, '').replace(':botId', botId);
}
