import { mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { fileChanges } from '../../src/command/local/file-changes.ts';

test('a file that changes while its last change is still deployed is read again', async () => {
  const path = join(await mkdtemp(join(tmpdir(), 'parley-file-')), 'desk.agent');
  await writeFile(path, 'one');
  const stopping = new AbortController();
  const changes = fileChanges(path, Readable.from([]), stopping.signal);
  expect((await changes.next()).value).toMatchObject({ text: 'one' });
  // In one step: between two, the file would be empty.
  await writeFile(`${path}.new`, 'two');
  await rename(`${path}.new`, path);
  expect((await changes.next()).value).toMatchObject({ text: 'two' });
  const next = changes.next();
  stopping.abort();
  await expect(next).rejects.toThrow('aborted');
});
