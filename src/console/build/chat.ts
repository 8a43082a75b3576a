/**
 * Builds the hosted chat page and the widget into the console's directory, compressed. The page has Preact in place of
 * React, which alone weighs more than the whole page may.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type InlineConfig } from 'vite';
import { orderLayers } from './layers.ts';
import { precompress } from './precompress.ts';

const root = join(import.meta.dirname, '..');
const outDir = join(root, '../generated/console');

const shared: InlineConfig = {
  configFile: false,
  root,
  publicDir: false,
  logLevel: 'warn',
};

const output = {
  outDir,
  emptyOutDir: false,
  target: 'baseline-widely-available',
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
} as const;

await rm(join(outDir, 'assets/chat'), { recursive: true, force: true });
await build({
  ...shared,
  plugins: [orderLayers()],
  resolve: {
    alias: [
      { find: /^react\/jsx-runtime$/, replacement: 'preact/jsx-runtime' },
      { find: /^react-dom\/client$/, replacement: 'preact/compat/client' },
      { find: /^react(-dom)?$/, replacement: 'preact/compat' },
    ],
  },
  build: {
    ...output,
    assetsDir: 'assets/chat',
    rolldownOptions: {
      checks: { bundlerTimings: false },
      input: join(root, 'hosted/chat.html'),
      treeshake: {
        // The shared parts import these packages for what this page does not use.
        moduleSideEffects: [
          {
            test: /node_modules\/(wouter|regexparam|use-sync-external-store|graphql)\//,
            sideEffects: false,
          },
        ],
      },
    },
  },
});

await build({
  ...shared,
  build: {
    ...output,
    lib: {
      entry: join(root, 'widget/widget.ts'),
      formats: ['iife'],
      name: 'parleyWidget',
      fileName: () => 'widget.js',
    },
    outDir: join(outDir, 'widget'),
  },
});

await precompress(join(outDir, 'assets/chat'));
