import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './commands.ts';

/** A line of the documents, and the page with it. */
export type DocumentedLine = { page: string; line: string };

const PAGES = ['README.md', 'src/client/README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];

/**
 * The lines that a reader copies and that begin with `npm` or `npx`: in code, in the steps of a workflow, and in tables
 * of commands. `npm run` is left out, because other tests compare its table with package.json.
 */
export function documentedLines(): DocumentedLine[] {
  return PAGES.flatMap((page) => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    const blocks = [...text.matchAll(/^```[^\n]*\n(.*?)^```$/gms)].map(([, block = '']) => block);
    const ofCode = blocks.join('').matchAll(/^ *(?:- run: )?(np[mx] .*)$/gm);
    const ofTables = text.matchAll(/^\| `(np[mx] .*?)` \|/gm);
    return [...ofCode, ...ofTables].map(([, line = '']) => ({ page, line }));
  }).filter(({ line }) => !line.startsWith('npm run '));
}
