import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

/** Bundles a program that uses the built client, minified, as for a browser. @returns its bytes after gzip. */
export async function bundledBytes(program: string): Promise<number> {
  const entry = 'virtual:program';
  const bundle = await rolldown({
    input: entry,
    cwd: import.meta.dirname,
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
  return gzipSync(output[0].code, { level: 9 }).byteLength;
}
