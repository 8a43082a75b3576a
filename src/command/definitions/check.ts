import { type DefinitionReport, readDefinition } from '../../language/read.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { codeFrames } from './code-frame.ts';
import { readSourceFile, type SourceFile } from './source-file.ts';

type Checked = { file: string; valid: boolean; diagnostics: DefinitionReport['diagnostics'] };

/** Checks files without a server. The diagnostics are the result. */
export async function check(paths: readonly string[], { terminal, print }: Context): Promise<void> {
  const sources = await readAll(paths, terminal.stdin);
  const results = sources.map((source) => ({ source, ...checked(source) }));
  const frames = results
    .filter(({ diagnostics }) => diagnostics.length > 0)
    .map(({ source, diagnostics }) => codeFrames(source, diagnostics, terminal.style));
  const value: Checked[] = results.map(({ file, valid, diagnostics }) => ({
    file,
    valid,
    diagnostics,
  }));
  if (frames.length > 0) await print(value, () => frames.join('\n\n'));
  else await print(value, () => results.map(({ file }) => `${file} is valid.`).join('\n'));
  const invalid = results.filter(({ valid }) => !valid);
  if (invalid.length > 0) throw new Refusal(summary(results));
}

/** Reads all files. @throws Refusal that names every file that cannot be read. */
async function readAll(
  paths: readonly string[],
  stdin: NodeJS.ReadableStream,
): Promise<SourceFile[]> {
  const outcomes = await Promise.allSettled(
    [...new Set(paths)].map((path) => readSourceFile(path, stdin)),
  );
  const problems = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason] : [],
  );
  const unexpected = problems.find((problem) => !(problem instanceof Refusal));
  if (unexpected !== undefined) throw unexpected;
  if (problems.length > 0) throw new Refusal(problems.map(({ message }) => message).join('\n'));
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
}

function checked({ name, text }: SourceFile): Checked {
  const { definition, diagnostics } = readDefinition(text);
  return { file: name, valid: definition !== null, diagnostics };
}

function summary(results: readonly Checked[]): string {
  const errors = results
    .flatMap(({ diagnostics }) => diagnostics)
    .filter(({ severity }) => severity === 'ERROR').length;
  const invalid = results.filter(({ valid }) => !valid).map(({ file }) => file);
  return `${errors} ${errors === 1 ? 'mistake' : 'mistakes'} in ${invalid.join(', ')}.`;
}
