/**
 * `npm run server`: bundles the server, and the programs that the command runs beside it, into `src/generated/server`. A
 * few files load in half the time of two thousand modules, and Node.js runs no TypeScript in `node_modules`, where an installed Parley is.
 */
import { rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { build, type Plugin } from 'rolldown';

const ROOT = join(import.meta.dirname, '../..');
const DIRECTORY = join(ROOT, 'src/generated/server');

/** Packages that load files of their own at run time, and one that uses what Node.js deprecates. */
const EXTERNAL = [/^@electric-sql\/pglite/, /^pino(-pretty)?$/, 'grammy'];

await rm(DIRECTORY, { recursive: true, force: true });
await build({
  cwd: ROOT,
  input: {
    server: 'src/start/server.ts',
    doctor: 'src/start/doctor.ts',
    'reset-operator': 'src/start/reset-operator.ts',
    'transfer-account': 'src/start/transfer-account.ts',
    'rebuild-stats': 'src/start/rebuild-stats.ts',
  },
  platform: 'node',
  logLevel: 'warn',
  external: EXTERNAL,
  plugins: [ownPlaces(), compilerFile(), asciiOnly()],
  output: {
    dir: DIRECTORY,
    entryFileNames: '[name].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    assetFileNames: '[name]-[hash][extname]',
    // Node.js keeps the text of what it runs: see `asciiOnly`.
    charset: 'ascii',
    comments: { legal: true, annotation: false, jsdoc: false },
    // Names and lines stay, for stack traces.
    keepNames: true,
  },
});

/** Keeps the meaning of `import.meta` in Parley's modules, which find files beside themselves. */
function ownPlaces(): Plugin {
  return {
    name: 'own-places',
    transform: {
      filter: { id: /\.ts$/, code: /import\.meta\.(url|dirname)/ },
      handler(code, id) {
        const path = relative(DIRECTORY, id).replaceAll('\\', '/');
        return code
          .replaceAll('import.meta.url', `new URL('${path}', import.meta.url).href`)
          .replaceAll('import.meta.dirname', `(import.meta.dirname + '/${dirname(path)}')`);
      },
    },
  };
}

/**
 * Escapes what `charset` leaves: texts in tagged templates and the comments of licenses. Node.js keeps a file in two bytes a
 * character unless all of its characters are ASCII.
 */
function asciiOnly(): Plugin {
  return {
    name: 'ascii-only',
    generateBundle(_, files) {
      for (const file of Object.values(files)) {
        if (file.type === 'chunk') file.code = file.code.replaceAll(/[^\0-\x7f]/g, escapeCharacter);
      }
    },
  };
}

function escapeCharacter(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Writes Prisma's query compiler as a file, which takes less memory than text in base64. */
function compilerFile(): Plugin {
  return {
    name: 'compiler-file',
    load: {
      filter: { id: /\.wasm-base64\.mjs$/ },
      async handler(id) {
        const { wasm } = await import(id);
        const file = this.emitFile({
          type: 'asset',
          name: 'query-compiler.wasm',
          source: Buffer.from(wasm, 'base64'),
        });
        return `import { readFileSync } from 'node:fs';
          export const wasm = readFileSync(new URL(import.meta.ROLLUP_FILE_URL_${file}));`;
      },
    },
  };
}
