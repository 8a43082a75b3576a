import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { Refusal, systemCode } from '../errors.ts';
import { nearest } from '../line/nearest.ts';

/** The argument that means stdin. */
export const STDIN = '-';

/** A text from a file or from stdin. */
export type SourceFile = { name: string; text: string };

/**
 * Reads a text file.
 *
 * @throws Refusal that says what to do if the file does not exist, is a directory, is not readable, or is not UTF-8.
 */
export async function readSourceFile(
  path: string,
  stdin: NodeJS.ReadableStream,
): Promise<SourceFile> {
  const name = path === STDIN ? '<stdin>' : path;
  const bytes = path === STDIN ? await buffer(stdin) : await readBytes(path);
  return { name, text: decode(name, bytes) };
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    switch (systemCode(error)) {
      case 'ENOENT':
      case 'ENOTDIR':
        throw new Refusal(`${path} does not exist.${await similarFile(path)}`, { cause: error });
      case 'EISDIR':
        throw new Refusal(
          `${path} is a directory. Name a file in it, such as ${join(path, 'bot.agent')}.`,
          { cause: error },
        );
      case 'EACCES':
      case 'EPERM':
        throw new Refusal(`${path} cannot be read: permission denied. Change its permissions.`, {
          cause: error,
        });
      default:
        throw new Refusal(`${path} cannot be read: ${systemCode(error) ?? 'unknown error'}.`, {
          cause: error,
        });
    }
  }
}

async function similarFile(path: string): Promise<string> {
  const directory = dirname(path);
  const names = await readdir(directory).catch(() => []);
  const name = nearest(basename(path), names);
  return name === undefined ? ' Check the path.' : ` Did you mean ${join(directory, name)}?`;
}

function decode(name: string, bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Refusal(`${name} is not UTF-8 text. Save it with the encoding UTF-8.`, {
      cause: error,
    });
  }
}
