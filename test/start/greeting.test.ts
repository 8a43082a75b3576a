import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { makeApiKey } from '../../src/accounts/key-format.ts';
import { greeting, type Start } from '../../src/start/greeting.ts';
import { temporaryDirectory } from '../helpers/directories.ts';

const START: Start = {
  address: 'http://127.0.0.1:4000',
  publicUrl: undefined,
  metricsAddress: undefined,
  model: undefined,
  key: { where: 'elsewhere' },
  code: null,
};
const lineOf = (text: string, name: string) =>
  new RegExp(`^ {2}${name}: +(.*)$`, 'm').exec(text)?.[1] ?? '';

/** The words that a shell gives to curl. */
async function wordsOf(text: string, env: Record<string, string> = {}): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }; ${lineOf(text, 'Try')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], {
    env: { PATH: process.env.PATH, ...env },
  });
  return stdout.split('\0');
}

describe('the greeting', () => {
  test('names the addresses of PUBLIC_URL, and the one that Parley listens on', () => {
    const publicUrl = 'https://bots.example/parley';
    const text = greeting({ ...START, publicUrl, code: 'abc' });
    expect(text).toContain('Parley is listening on http://127.0.0.1:4000\n');
    expect(lineOf(text, 'Console')).toContain(`${publicUrl}/sign-in#code=abc `);
    expect(lineOf(text, 'GraphiQL')).toBe(`${publicUrl}/graphql`);
    expect(lineOf(text, 'Reference')).toBe(`${publicUrl}/docs`);
    expect(lineOf(text, 'Try')).toContain(`curl ${publicUrl}/v1/bots/demo/chat -H`);
  });

  test('reads the key of an earlier start from the variable of the README', async () => {
    const key = makeApiKey();
    const words = await wordsOf(greeting(START), { PARLEY_API_KEY: key });
    expect(words).toContain(`Authorization: Bearer ${key}`);
  });

  test('shows a key on the terminal that generated it', async () => {
    const key = makeApiKey();
    const text = greeting({ ...START, key: { where: 'terminal', key } });
    expect(lineOf(text, 'API key')).toContain(key);
    expect(await wordsOf(text)).toContain(`Authorization: Bearer ${key}`);
  });

  test('names the file of a key, and a curl line that reads it, whatever the path', async () => {
    const key = makeApiKey();
    const path = join(await temporaryDirectory(), `it's $(touch x) "here"`);
    await writeFile(path, `${key}\n`);
    const text = greeting({ ...START, key: { where: 'file', key, path } });
    expect(text).not.toContain('parley_sk_');
    expect(lineOf(text, 'API key')).toContain(`in ${path} `);
    expect(await wordsOf(text)).toContain(`Authorization: Bearer ${key}`);
  });

  test('does not show a key that the settings gave, and lets no setting run in a shell', async () => {
    const publicUrl = "http://a.example/'$(id)";
    const key = makeApiKey();
    const text = greeting({ ...START, publicUrl, key: { where: 'settings', key } });
    expect(text).not.toContain('parley_sk_');
    expect((await wordsOf(text))[0]).toBe(`${publicUrl}/v1/bots/demo/chat`);
  });
});
