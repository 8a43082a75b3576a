import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { StartupError } from '../../errors/errors.ts';

/** The directory to which `npm run console` writes the console. */
export const CONSOLE_DIRECTORY = join(import.meta.dirname, '../../generated/console');

/**
 * Reads a file that the console's build writes: `index.html` is the console, `page.html` its frame for other pages,
 * `hosted/chat.html` the template of chat pages, and `widget/widget.js` the widget.
 *
 * @throws StartupError if the console has not been built.
 */
export function readConsoleFile(
  name: 'index.html' | 'page.html' | 'hosted/chat.html' | 'widget/widget.js',
): string {
  try {
    return readFileSync(join(CONSOLE_DIRECTORY, name), 'utf8');
  } catch (cause) {
    throw new StartupError("The console's files are missing. Run: npm run console", { cause });
  }
}
