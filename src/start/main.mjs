/** Entry point of `npm start`. It runs the bundle of the server, which loads in half the time of its modules. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// A start compiles only the files that changed since the last one. Without write access, it compiles them all.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/parley', import.meta.url)));

const BUNDLE = new URL('../generated/server/server.mjs', import.meta.url);

if (existsSync(BUNDLE)) await import(BUNDLE.href);
else {
  console.error('Parley cannot start: its generated files are missing. Run: npm run build');
  process.exitCode = 1;
}
