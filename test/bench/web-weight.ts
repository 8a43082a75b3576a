import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { CONSOLE_DIRECTORY, readConsoleFile } from '../../src/transport/console/files.ts';
import type { Figure } from './web.ts';

const ASSETS = join(CONSOLE_DIRECTORY, 'assets');
/** The build names the guide's content so. */
const CONTENT = /^guide-page-/;

/** Weighs the built scripts as they are sent: compressed by brotli, in kB of 1000 bytes. */
export async function weigh(): Promise<Figure[]> {
  const scripts = (await readdir(ASSETS)).filter((name) => name.endsWith('.js'));
  const page = readConsoleFile('index.html');
  const first = scripts.filter((name) => page.includes(name));
  const content = scripts.filter((name) => CONTENT.test(name));
  const whole = scripts.filter((name) => !CONTENT.test(name));
  return [
    { name: 'first screen', value: await kilobytes(first), bound: '120 kB' },
    { name: 'whole console', value: await kilobytes(whole), bound: '420 kB' },
    { name: `content of the guide, ${content.length} pages`, value: await kilobytes(content) },
  ];
}

async function kilobytes(names: string[]): Promise<string> {
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(ASSETS, `${name}.br`))).size),
  );
  return `${(sizes.reduce((sum, size) => sum + size, 0) / 1_000).toFixed(1)} kB`;
}
