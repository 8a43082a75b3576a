import { writeFile } from 'node:fs/promises';
import { formatSource } from '../../language/format.ts';
import { readDefinition } from '../../language/read.ts';
import type { Context } from '../context.ts';
import { Refusal, systemCode } from '../errors.ts';
import { codeFrames } from './code-frame.ts';
import { readSourceFile, STDIN } from './source-file.ts';

type Formatted = { file: string; changed: boolean };

/** Formats files in place, and stdin to stdout. With `onlyCheck` it writes nothing and fails if a file would change. */
export async function format(
  paths: readonly string[],
  { onlyCheck }: { onlyCheck: boolean },
  context: Context,
): Promise<void> {
  const results: Formatted[] = [];
  for (const path of new Set(paths)) results.push(await formatFile(path, onlyCheck, context));
  const changed = results.filter((result) => result.changed).map(({ file }) => file);
  const isPiped = paths.includes(STDIN) && !onlyCheck && !context.json;
  if (!isPiped) await context.print(results, () => lines(results, onlyCheck));
  if (onlyCheck && changed.length > 0)
    throw new Refusal(`Run parley format ${changed.join(' ')} to format.`);
}

async function formatFile(
  path: string,
  onlyCheck: boolean,
  { terminal, json }: Context,
): Promise<Formatted> {
  const source = await readSourceFile(path, terminal.stdin);
  const text = formatSource(source.text);
  if (text === null) {
    const errors = readDefinition(source.text).diagnostics.filter(
      ({ severity }) => severity === 'ERROR',
    );
    terminal.note(codeFrames(source, errors, terminal.errorStyle));
    throw new Refusal(`${source.name} is not formatted, because its syntax has mistakes.`);
  }
  if (path === STDIN && !onlyCheck && !json) await terminal.writeExactly(text);
  const changed = text !== source.text;
  if (changed && !onlyCheck && path !== STDIN) await store(path, text);
  return { file: source.name, changed };
}

async function store(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new Refusal(`${path} cannot be written: ${systemCode(error) ?? 'unknown error'}.`, {
      cause: error,
    });
  }
}

function lines(results: readonly Formatted[], onlyCheck: boolean): string {
  return results
    .map(({ file, changed }) => {
      if (!changed) return `${file} is formatted.`;
      return onlyCheck ? `${file} is not formatted.` : `${file} was formatted.`;
    })
    .join('\n');
}
