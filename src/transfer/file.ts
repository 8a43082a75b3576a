/**
 * The file of an exported account: one JSON value on each line. The first line is the header, each of the next ones a row
 * with its table, and the last one the number of the rows with an HMAC of all lines before it. A key that is not in the
 * file encrypts its variables and authenticates its lines.
 */
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { StartupError } from '../errors/errors.ts';
import { isJsonObject, type JsonObject } from '../text/json.ts';

export const FORMAT = 'parley account 1';

export type Header = {
  format: typeof FORMAT;
  account: string;
  /** The last migration of the database. */
  migration: string;
  /** Identifies the key of the file, in hex. */
  key: string;
};

/** A row as text: the JSON of PostgreSQL, whose numbers may be larger than the numbers of JavaScript. */
export type ExportedRow = { table: string; row: string };

/** A run is the largest row: its events have at most 4 MiB before they become JSON. */
const MAX_LINE_BYTES = 128 * 1024 * 1024;
const NEWLINE = 10;

/** Writes the lines of a file in their order. */
export type AccountFileWriter = {
  begin(header: Header): Promise<void>;
  write(rows: readonly ExportedRow[]): Promise<void>;
  /** Writes the last line. The file is on the disk when this resolves. */
  finish(): Promise<void>;
};

export function writeAccountFile(file: FileHandle, key: Uint8Array): AccountFileWriter {
  const mac = macOf(key);
  let rows = 0;
  const append = async (lines: string) => {
    mac.update(lines);
    await file.appendFile(lines);
  };
  return {
    begin: (header) => append(`${JSON.stringify(header)}\n`),
    async write(added) {
      rows += added.length;
      await append(added.map(({ table, row }) => `{"table":"${table}","row":${row}}\n`).join(''));
    },
    async finish() {
      await file.appendFile(`${JSON.stringify({ rows, mac: mac.digest('base64') })}\n`);
      await file.sync();
    },
  };
}

/** The lines of a file. They may only be kept if all of them were read without an error. */
export type AccountFile = { header: Header; rows: AsyncIterable<ExportedRow> };

/**
 * Opens the file of an account.
 *
 * @throws StartupError for a file that is not one of an exported account; `rows` for a line that is missing, added or changed.
 */
export async function readAccountFile(path: string, key: Uint8Array): Promise<AccountFile> {
  const lines = linesOf(path);
  const first = await lines.next();
  const header = first.done ? undefined : parsed(first.value);
  if (!isHeader(header)) throw new StartupError(`${path} is not the file of an exported account.`);
  const mac = macOf(key);
  mac.update(`${first.value}\n`);
  return { header, rows: rowsOf(lines, path, mac) };
}

async function* rowsOf(
  lines: AsyncIterable<string>,
  path: string,
  mac: ReturnType<typeof macOf>,
): AsyncGenerator<ExportedRow> {
  let rows = 0;
  let isWhole = false;
  for await (const line of lines) {
    if (isWhole) throw changed(path, 'has lines after its end');
    const table = ROW.exec(line)?.[1];
    if (table === undefined) {
      const end = parsed(line);
      if (typeof end?.mac !== 'string') throw changed(path, `has an unknown line ${rows + 2}`);
      const [expected, found] = [mac.digest(), Buffer.from(end.mac, 'base64')];
      if (
        end.rows !== rows ||
        found.length !== expected.length ||
        !timingSafeEqual(expected, found)
      )
        throw changed(path, 'was changed');
      isWhole = true;
    } else {
      rows += 1;
      mac.update(`${line}\n`);
      yield { table, row: line.slice(line.indexOf(',"row":') + ROW_AT, -1) };
    }
  }
  if (!isWhole) throw changed(path, 'is cut off');
}

/** A text may contain other ends of lines, which `.` matches only with the flag `s`. */
const ROW = /^\{"table":"(\w+)","row":\{.*\}\}$/s;
const ROW_AT = ',"row":'.length;

async function* linesOf(path: string): AsyncGenerator<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      let from = 0;
      for (let to = chunk.indexOf(NEWLINE); to >= 0; to = chunk.indexOf(NEWLINE, from)) {
        yield Buffer.concat([...pieces.splice(0), chunk.subarray(from, to)]).toString();
        [from, size] = [to + 1, 0];
      }
      pieces.push(chunk.subarray(from));
      size += chunk.length - from;
      if (size > MAX_LINE_BYTES) throw changed(path, `has a line of over ${MAX_LINE_BYTES} bytes`);
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
    throw new StartupError(`${path} cannot be read: ${error.code}.`, { cause: error });
  }
  if (size > 0) throw changed(path, 'is cut off');
}

function parsed(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isHeader(value: JsonObject | undefined): value is Header & JsonObject {
  return (
    value?.format === FORMAT &&
    [value.account, value.migration, value.key].every((text) => typeof text === 'string')
  );
}

function changed(path: string, problem: string): StartupError {
  return new StartupError(`${path} ${problem}. Nothing was imported. Export the account again.`);
}

function macOf(key: Uint8Array) {
  return createHmac(
    'sha256',
    new Uint8Array(hkdfSync('sha256', key, '', 'parley account file', 32)),
  );
}
