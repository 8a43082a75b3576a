import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readDefinition } from '../../language/read.ts';
import { writePrivateFile } from '../../storage/private-file.ts';
import type { Context } from '../context.ts';
import { Refusal, systemCode } from '../errors.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { TEMPLATE_NAMES, type TemplateName } from './template-names.ts';
import { TEMPLATES } from './templates.ts';

/** Writes a definition and the names of its variables into a directory. It replaces no file. */
export async function init(
  directory: string,
  { template }: { template: TemplateName | undefined },
  { terminal, print, json }: Context,
): Promise<void> {
  const name = template ?? (terminal.canAsk && !json ? await ask(terminal) : TEMPLATE_NAMES[0]);
  const agentFile = join(directory, `${name}.agent`);
  const variablesFile = join(directory, '.env.example');
  const { source } = TEMPLATES[name];
  const files = [
    { path: agentFile, text: withInstructions(source, agentFile), write: writeNewFile },
    // A copy of a private file is private too.
    { path: variablesFile, text: variablesText(source, agentFile), write: writePrivateFile },
  ];
  for (const { path } of files) await assertNew(path);
  await attempt(directory, () => mkdir(directory, { recursive: true }));
  for (const { path, text, write } of files) await attempt(path, () => write(path, text));
  await print({ template: name, files: files.map(({ path }) => path) }, () =>
    files.map(({ path }) => `Wrote ${path}.`).join('\n'),
  );
  terminal.progress(`Next: parley check ${agentFile}`);
}

const writeNewFile = (path: string, text: string) => writeFile(path, text, { flag: 'wx' });

async function ask(terminal: Context['terminal']): Promise<TemplateName> {
  const { select } = await openPrompts(terminal);
  const chosen = await select(
    'Which template?',
    TEMPLATE_NAMES.map((name) => ({
      value: name,
      label: name,
      hint: TEMPLATES[name].description,
    })),
  );
  return TEMPLATE_NAMES.find((name) => name === chosen) ?? TEMPLATE_NAMES[0];
}

async function assertNew(path: string): Promise<void> {
  const exists = await stat(path).then(
    () => true,
    () => false,
  );
  if (exists)
    throw new Refusal(`${path} exists. Remove it, or name another directory: parley init DIR.`);
}

async function attempt(path: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write();
  } catch (error) {
    throw new Refusal(
      `${path} cannot be written: ${systemCode(error) ?? 'unknown error'}. Name another directory: parley init DIR.`,
      { cause: error },
    );
  }
}

/** Puts the commands for a file below its first line. */
function withInstructions(source: string, path: string): string {
  const [header = '', ...rest] = source.split('\n');
  const instructions = [
    '',
    `# Check this file:      parley check ${path}`,
    `# Deploy it to a bot:   parley deploy ${path} --bot ID --vars .env`,
    '# The reference of the language is on your server, at /guide/language.',
  ];
  return [header, ...instructions, ...rest].join('\n');
}

function variablesText(source: string, path: string): string {
  const names = readDefinition(source).envNames.map((name) => `${name}=\n`);
  return [
    `# The variables that ${path} reads as env.NAME.\n`,
    '# Copy this file to .env and fill it in. Git must not hold .env. Then deploy:\n',
    `#   parley deploy ${path} --bot ID --vars .env\n`,
    ...names,
  ].join('');
}
