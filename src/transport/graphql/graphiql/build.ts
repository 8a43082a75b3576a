/** Part of `npm run generate`: writes GraphiQL's files, and their compressed forms, to the directory that is served. */
import { hash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import {
  css,
  editorWorkerService,
  graphqlWorker,
  js,
  jsonWorker,
} from '@graphql-yoga/render-graphiql/graphiql';
import { GRAPHIQL_DIRECTORY } from './files.ts';

/** Brotli's best level takes twelve times as long and saves only 9 % more. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

/** Writes a file with a hash of its content in the name. @returns the name. */
async function write(name: string, extension: string, content: string | Buffer): Promise<string> {
  const file = `${name}-${hash('sha256', content).slice(0, 16)}.${extension}`;
  const path = join(GRAPHIQL_DIRECTORY, file);
  await writeFile(path, content);
  // Fonts, which are buffers, are already compressed.
  if (typeof content === 'string') {
    await writeFile(`${path}.br`, await promisify(brotliCompress)(content, BROTLI));
    await writeFile(`${path}.gz`, await promisify(gzip)(content));
  }
  return file;
}

/** Moves a style sheet's embedded fonts into files, because `font-src` does not allow `data:`. */
async function withoutFonts(style: string): Promise<string> {
  const fonts = new Set(style.match(/data:font\/\w+;base64,[\w+/=]+/g));
  let result = style;
  for (const url of fonts) {
    const [, type = '', base64 = ''] = /^data:font\/(\w+);base64,(.*)$/.exec(url) ?? [];
    const file = await write('font', type, Buffer.from(base64, 'base64'));
    result = result.replaceAll(url, file);
  }
  return result;
}

if (import.meta.main) {
  await rm(GRAPHIQL_DIRECTORY, { recursive: true, force: true });
  await mkdir(GRAPHIQL_DIRECTORY, { recursive: true });
  const start = await readFile(new URL('./start.js', import.meta.url), 'utf8');
  const phone = await readFile(new URL('./phone.css', import.meta.url), 'utf8');
  await Promise.all([
    write('graphiql', 'js', `${js};\n${start}`),
    // Its layer is below the layers of the console's frame.
    withoutFonts(`@layer graphiql{${css}\n${phone}}`).then((style) =>
      write('graphiql', 'css', style),
    ),
    write('editor-worker', 'js', editorWorkerService),
    write('json-worker', 'js', jsonWorker),
    write('graphql-worker', 'js', graphqlWorker),
  ]);
}
