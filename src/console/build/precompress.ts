import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Writes the `.br` and `.gz` form of every text file of a directory. */
export async function precompress(directory: string): Promise<void> {
  const names = await readdir(directory);
  const texts = names.filter((name) => /\.(js|css|svg)$/.test(name));
  await Promise.all(
    texts.map(async (name) => {
      const path = join(directory, name);
      const content = await readFile(path);
      const options = { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } };
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content, options));
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    }),
  );
}
