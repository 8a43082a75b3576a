import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatSource } from '../../src/language/format.ts';
import { readDefinition } from '../../src/language/read.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { startServer } from '../helpers/server.ts';
import { define, problemsOf } from './helpers.ts';

const ROOT = new URL('../..', import.meta.url).pathname;
const PAGE = readFileSync(join(ROOT, 'docs/language/tutorial.md'), 'utf8');
const COMMAND = join(ROOT, 'src/generated/command/parley.mjs');
const run = promisify(execFile);

type Step = {
  title: string;
  /** The whole definition after the step. */
  source: string;
  /** The shell commands of the step, each with the output that the page shows. */
  commands: { command: string; output: string }[];
};

/** Adds settings before the last brace of a definition. */
const withSettings = (source: string, settings: string) =>
  source.replace(/\}\n$/, `\n${settings}}\n`);

/** The sections of the page that contain code, in their order. */
function readSteps(): Step[] {
  let source = '';
  return PAGE.split(/^## /m).flatMap((section) => {
    const [, text] = /^```agentlang\n(.*?)^```$/ms.exec(section) ?? [];
    if (text) source = text.startsWith('agentlang') ? text : withSettings(source, text);
    const blocks = section.matchAll(/^```sh\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?/gms);
    const commands = [...blocks].map(([, command = '', output = '']) => ({ command, output }));
    return commands.length > 0 ? [{ title: section.split('\n')[0] ?? '', source, commands }] : [];
  });
}

const STEPS = readSteps();

/** The last definition with the settings of each section that follows the steps. */
const EXTENSIONS = PAGE.split(/^## /m)
  .slice(-3)
  .flatMap((section) => [...section.matchAll(/^```agentlang\n(.*?)^```$/gms)])
  .map(([, settings = '']) => withSettings(STEPS.at(-1)?.source ?? '', settings));

/** A pattern of the shown output. `…` is any text in one line. */
const patternOf = (output: string) =>
  new RegExp(`^${output.split('…').map(RegExp.escape).join('.*')}$`);

describe('the tutorial', () => {
  test('has eight steps after its preparations, with formatted definitions from the second one on', () => {
    const numbers = STEPS.map(({ title }) => Number.parseInt(title, 10));
    expect(numbers).toEqual([Number.NaN, 1, 2, 3, 4, 5, 6, 7, 8]);
    const options = { isBlocked: () => false };
    const [, first, ...others] = STEPS.map(({ source }) => source);
    expect(problemsOf(first ?? '', options)).toEqual([
      '2:1 the agent has no description [missing-description]',
    ]);
    for (const source of others) {
      expect(problemsOf(source, options)).toEqual([]);
      expect(formatSource(source)).toBe(source);
    }
  });

  test('adds a tool that a person approves, in a formatted definition', () => {
    const [extended] = EXTENSIONS;
    expect(problemsOf(extended ?? '', { isBlocked: () => false })).toEqual([]);
    expect(formatSource(extended ?? '')).toBe(extended);
    const [group] = define(extended ?? '').tools.slice(-1);
    const capability = group?.type === 'http' ? group.capabilities[0] : undefined;
    expect(capability?.approval).toMatchObject({ expiresSeconds: 43_200 });
  });

  test('adds a test of the agent, in a formatted definition', () => {
    const [, tested, ...others] = EXTENSIONS;
    expect(others).toEqual([]);
    expect(problemsOf(tested ?? '', { isBlocked: () => false })).toEqual([]);
    expect(formatSource(tested ?? '')).toBe(tested);
    expect(readDefinition(tested ?? '').tests.map(({ turns }) => turns.length)).toEqual([2]);
  });

  test('ends with the definition of the step before, but for its output, channels and limits', () => {
    const [previous, last] = STEPS.slice(-2).map(({ source }) => define(source));
    const { output, channels, limits, ...kept } = previous ?? expect.fail();
    expect([output?.length, last?.output]).toEqual([3, undefined]);
    expect([channels.length, last?.channels.length]).toEqual([0, 1]);
    expect(last?.limits).not.toEqual(limits);
    expect(last).toMatchObject(kept);
  });
});

describe('a reader of the tutorial', { shuffle: false }, () => {
  let folder: string;
  let shop: string;
  let env: NodeJS.ProcessEnv;
  let url: string;
  /** The functions that earlier steps defined. */
  let functions = '';

  beforeAll(async () => {
    folder = await temporaryDirectory();
    const program = spawn(process.execPath, [join(ROOT, 'docs/language/shop.mjs')], {
      env: { SHOP_PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    atTheEnd(() => program.kill());
    const [line] = await once(program.stdout.setEncoding('utf8'), 'data');
    shop = /127\.0\.0\.1:\d+/.exec(line)?.[0] ?? expect.fail(line);
    const server = await startServer({ env: { PARLEY_ALLOWED_HOSTS: shop } });
    atTheEnd(() => server.stop('SIGTERM'));
    url = server.url;
    const { PATH, HOME } = process.env;
    env = { PATH, HOME, PARLEY_URL: url, PARLEY_API_KEY: server.operatorKey() };
  });

  const here = (text: string) =>
    text.replaceAll('127.0.0.1:8123', shop).replaceAll('http://127.0.0.1:4000', url);

  test.each(STEPS)('reads the shown output: $title', async ({ source, commands }) => {
    writeFileSync(join(folder, 'desk.agent'), here(source));
    for (const { command, output } of commands) {
      const script = [
        'set -euo pipefail',
        `parley() { '${process.execPath}' '${COMMAND}' "$@"; }`,
        functions,
        here(command),
      ].join('\n');
      const { stdout } = await run('bash', ['-c', script], { cwd: folder, env });
      expect(stdout).toMatch(patternOf(output));
      functions += [...here(command).matchAll(/^\w+\(\) \{$.*?^\}$/gms)].join('\n');
    }
  });
});
