/** Entry point of `npm start`. It checks the files that the server's imports need before it imports the server. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

// A start compiles only the modules that changed since the last one. Without write access, it compiles them all.
enableCompileCache(fileURLToPath(new URL('../node_modules/.cache/parley', import.meta.url)));

const GENERATED = new URL('./generated/prisma/client.ts', import.meta.url);

if (existsSync(GENERATED)) await import('./server.ts');
else {
  console.error('Parley cannot start: its generated files are missing. Run: npm run generate');
  process.exitCode = 1;
}
