import { execFile } from 'node:child_process';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { printedReference } from '../src/command/print-reference.ts';
import { temporaryDirectory } from './helpers/directories.ts';
import { type ServerProcess, startServer } from './helpers/server.ts';

const ROOT = new URL('..', import.meta.url).pathname;
const run = promisify(execFile);
const PAGES = ['README.md', 'src/client/README.md', ...globSync('docs/**/*.md', { cwd: ROOT })];
/** `test/language/tutorial.test.ts` runs its commands, with the servers that they need. */
const TUTORIAL = 'docs/language/tutorial.md';
/** The command, as `npm ci` builds it. */
const COMMAND = join(ROOT, 'src/generated/command/parley.mjs');
/** The two lines that set Parley up: `.ci/run` runs them in a clean copy. */
const BY_CI = /^npm ci/;

type Block = { language: string; skip: boolean; text: string };

function blocksOf(page: string): Block[] {
  const blocks = readFileSync(join(ROOT, page), 'utf8').matchAll(
    /^```(\w+)?( skip)?\n(.*?)^```$/gms,
  );
  return [...blocks].map(([, language = '', skip, text = '']) => ({
    language,
    skip: !!skip,
    text,
  }));
}

/** TypeScript is of the client. Skipped samples are of pages. */
const isSample = ({ language, skip }: Block) => language === 'ts' && !skip;

describe('the documentation', () => {
  let server: ServerProcess;
  let apiKey: string;

  beforeAll(async () => {
    server = await startServer();
    apiKey = server.operatorKey();
  });

  afterAll(async () => {
    await server.stop('SIGTERM');
  });

  const pages = PAGES.filter((page) => page !== TUTORIAL);
  test.each(pages)('has shell commands that work, in %s', async (page) => {
    const commands = blocksOf(page)
      .filter(({ language, skip, text }) => language === 'sh' && !skip && !BY_CI.test(text))
      .map(({ text }) => text.replaceAll(/^export PARLEY_API_KEY=.*$/gm, ''));
    if (commands.length === 0) return;
    const script = [
      'set -euo pipefail',
      'curl() { command curl --silent --show-error --fail-with-body "$@" && echo; }',
      `parley() { '${process.execPath}' '${COMMAND}' "$@"; }`,
      ...commands,
    ].join('\n');
    const { stdout } = await run(
      'bash',
      ['-c', script.replaceAll('http://127.0.0.1:4000', server.url)],
      {
        cwd: await temporaryDirectory(),
        env: { ...process.env, PARLEY_API_KEY: apiKey, PARLEY_URL: server.url },
      },
    );
    // A command that the page expects to fail shows its exit code.
    const shown = blocksOf(page).flatMap(({ text }) => text.match(/^exit code \d+$/gm) ?? []);
    expect(stdout.match(/^exit code \d+$/gm) ?? []).toEqual(shown);
  });

  const operations = PAGES.flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => language === 'graphql')
      .map(({ text }) => ({ page, text })),
  );
  test.each(operations)('has GraphQL operations that work, in $page: $text', async ({ text }) => {
    const isSubscription = text.startsWith('subscription');
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: {
        accept: isSubscription ? 'text/event-stream' : 'application/json',
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query: text }),
    });
    const body = await response.text();
    const results = isSubscription ? body.matchAll(/^data: (\{.*)$/gm) : [[body, body]];
    const parsed = [...results].map(([, result = '']) => JSON.parse(result));
    expect(parsed.length).toBeGreaterThan(0);
    for (const result of parsed) expect(result).toEqual({ data: expect.anything() });
  });

  const programs = PAGES.flatMap((page) =>
    blocksOf(page)
      .filter(({ language }) => language === 'js')
      .map(({ text }) => ({ page, text })),
  );
  test.each(programs)('has programs that work, in $page', async ({ text }) => {
    const file = join(await temporaryDirectory(), 'program.mjs');
    const here = text.replaceAll(/ from '(.+)'/g, (_all, name: string) => {
      return ` from '${import.meta.resolve(name)}'`;
    });
    writeFileSync(file, here.replaceAll('127.0.0.1:4000', new URL(server.url).host));
    const { stdout } = await run(process.execPath, [file], {
      env: { ...process.env, PARLEY_API_KEY: apiKey },
    });
    expect(stdout).not.toBe('');
  });

  test('has samples of the client that work in their order, in every page', async () => {
    const directory = await temporaryDirectory();
    const client = join(ROOT, 'src/client');
    await mkdir(join(directory, 'node_modules/@parley'), { recursive: true });
    await symlink(client, join(directory, 'node_modules/@parley/client'));
    const files = PAGES.flatMap((page) => {
      const samples = blocksOf(page).filter(isSample);
      if (samples.length === 0) return [];
      const program = samples.map(({ text }) => text).join('\n');
      const file = `${page.replaceAll('/', '-')}.mts`;
      writeFileSync(join(directory, file), program.replaceAll('http://127.0.0.1:4000', server.url));
      return [file];
    });
    expect(files.length).toBeGreaterThanOrEqual(3);
    const config = {
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: {
        incremental: false,
        tsBuildInfoFile: null,
        typeRoots: [join(ROOT, 'node_modules/@types')],
      },
      files,
      include: [],
    };
    writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify(config));
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const check = await run(tsc, ['-p', '.'], { cwd: directory }).catch((error) => error);
    expect(check.stdout).toBe('');
    for (const file of files) {
      const { stdout } = await run(process.execPath, [file], {
        cwd: directory,
        env: { ...process.env, PARLEY_API_KEY: apiKey },
      });
      expect([file, stdout]).not.toEqual([file, '']);
    }
  });

  test('has links that lead somewhere', () => {
    const broken = PAGES.flatMap((page) => {
      const text = readFileSync(join(ROOT, page), 'utf8');
      const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)?(?:#([\w-]+))?\)/g)];
      return links.flatMap(([link, path = '', anchor]) => {
        const target = path ? join(ROOT, page, '..', path) : join(ROOT, page);
        return leads(target, anchor) ? [] : [`${page}: ${link}`];
      });
    });
    expect(broken).toEqual([]);
  });

  test('has the help of every command in docs/command.md; if this fails, run: npm run reference', async () => {
    expect(readFileSync(join(ROOT, 'docs/command.md'), 'utf8')).toBe(await printedReference());
  });

  test('is short enough to read: the README has 250 lines at most', () => {
    const lines = readFileSync(join(ROOT, 'README.md'), 'utf8').trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(250);
  });
});

/** Whether a file or folder exists, and has the heading. Source: GitHub's way to name headings. */
function leads(target: string, anchor: string | undefined): boolean {
  try {
    if (!anchor)
      return (
        readdirSync(join(target, '..')).some((name) => target.endsWith(name)) ||
        readdirSync(target).length > 0
      );
    const headings = readFileSync(target, 'utf8').matchAll(/^#+ (.*)$/gm);
    return [...headings].some(
      ([, heading = '']) =>
        heading
          .toLowerCase()
          .replaceAll(/[^\w\s-]/g, '')
          .replaceAll(' ', '-') === anchor,
    );
  } catch {
    return false;
  }
}
