import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../../errors.ts';

/** The directory to which `npm run console` writes the console. */
export const CONSOLE_DIRECTORY = join(import.meta.dirname, '../../generated/console');

/**
 * Reads a page that the console's build writes: `index.html` is the console, `page.html` its frame for other pages.
 *
 * @throws StartupError if the console has not been built.
 */
export function readConsolePage(name: 'index.html' | 'page.html'): string {
  try {
    return readFileSync(join(CONSOLE_DIRECTORY, name), 'utf8');
  } catch (cause) {
    throw new StartupError("The console's files are missing. Run: npm run console", { cause });
  }
}
