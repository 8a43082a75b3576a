import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/** Bundles a program with the modules that it uses from a folder, minified, as for a browser. @returns its code. */
export async function bundleOf(program: string, folder: string): Promise<string> {
  const entry = join(folder, 'program.js');
  const bundle = await rolldown({
    input: entry,
    platform: 'neutral',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === entry ? id : undefined),
        load: (id) => (id === entry ? program : undefined),
      },
    ],
  });
  const { output } = await bundle.generate({ format: 'es', minify: true });
  await bundle.close();
  return output[0].code;
}

/** @returns the bytes of the bundle after gzip. */
export async function bundledBytes(program: string, folder: string): Promise<number> {
  return gzipSync(await bundleOf(program, folder), { level: 9 }).byteLength;
}
