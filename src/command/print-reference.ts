/** `npm run reference`: writes the reference of all commands to docs/command.md, below the chapters by hand. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { COMMANDS } from './commands/commands.ts';
import { reference } from './line/reference.ts';

const FILE = join(import.meta.dirname, '../../docs/command.md');
/** Everything below this heading is written by this program. */
const HEADING = '\n## All commands\n';

/** @returns docs/command.md with the current reference. */
export async function printedReference(): Promise<string> {
  const text = await readFile(FILE, 'utf8');
  const at = text.indexOf(HEADING);
  if (at === -1) throw new Error(`docs/command.md has no heading "${HEADING.trim()}".`);
  return `${text.slice(0, at)}${HEADING}\n${reference(COMMANDS)}\n`;
}

if (import.meta.main) {
  await writeFile(FILE, await printedReference());
  console.log('Wrote docs/command.md');
}
