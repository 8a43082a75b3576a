/** Builds the console: `npm run console` writes it, compressed, to the directory that Parley serves; `npm run dev` serves it with hot reload. */
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { guide } from './src/console/build/guide.ts';
import { languageHelp } from './src/console/build/language-help.ts';
import { orderLayers } from './src/console/build/layers.ts';
import { precompress } from './src/console/build/precompress.ts';

/** The running server that `npm run dev` forwards requests to. */
const server = process.env.PARLEY_URL ?? 'http://127.0.0.1:4000';
const inConsole = (file: string) => join(import.meta.dirname, 'src/console', file);
const outDir = join(import.meta.dirname, 'src/generated/console');

export default defineConfig({
  root: 'src/console',
  publicDir: false,
  plugins: [react(), guide(), languageHelp(), orderLayers(), preloadScripts(), compress()],
  build: {
    outDir,
    emptyOutDir: true,
    rolldownOptions: {
      // A slow machine would get a warning about the duration of the build.
      checks: { bundlerTimings: false },
      input: [inConsole('index.html'), inConsole('page.html'), inConsole('preload.ts')],
      preserveEntrySignatures: 'allow-extension',
      output: {
        // What most screens share is one file, so that a page asks for few.
        codeSplitting: {
          groups: [
            {
              name: 'preload',
              test: /src\/console\/(preload|screens|screen-code|server\/first-request)\.ts$/,
              priority: 1,
            },
            {
              name: 'shared',
              // Small files of several screens belong to it too: a file of its own costs more than its content.
              test: /src\/console\/((parts|server|frame)\/[^/]+|runs\/(labels|failed-calls|run-badge)\.tsx?|(random-id|numbers)\.ts)$/,
            },
          ],
        },
        // Told apart, because the guide's content does not count as the console's scripts.
        chunkFileNames: ({ facadeModuleId }) =>
          `assets/${facadeModuleId?.startsWith('\0virtual:guide/') ? 'guide-page-' : ''}[name]-[hash].js`,
      },
    },
    target: 'baseline-widely-available',
    // `img-src` allows `data:`, but a file is cached by itself and needs no exception.
    assetsInlineLimit: 0,
    // All supported browsers preload modules, and the policy forbids the polyfill's inline script.
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    proxy: { '^/(graphql|session|v1|docs|assets|chat|widget.js)': { target: server, ws: true } },
  },
});

/** Makes a page request its font at once, and run its first script before its other scripts have loaded. */
function preloadScripts(): Plugin {
  return {
    name: 'preload',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle = {}, path }) => [
        ...Object.keys(bundle)
          .filter((file) => file.endsWith('.woff2'))
          .map((file) => ({
            tag: 'link',
            attrs: { rel: 'preload', as: 'font', crossorigin: '', href: `/${file}` },
            injectTo: 'head' as const,
          })),
        ...Object.values(bundle)
          .filter((file) => file.type === 'chunk' && file.isEntry && file.name === 'preload')
          .filter(() => path === '/index.html')
          .map(({ fileName }) => ({
            tag: 'script',
            attrs: { type: 'module', async: true, src: `/${fileName}` },
            injectTo: 'head-prepend' as const,
          })),
      ],
    },
  };
}

function compress(): Plugin {
  return {
    name: 'compress',
    apply: 'build',
    writeBundle: () => precompress(join(outDir, 'assets')),
  };
}
