/** Entry point of `npm start`. It checks the files that the server's imports need before it imports the server. */
import { existsSync } from 'node:fs';

const GENERATED = new URL('./generated/prisma/client.ts', import.meta.url);

if (existsSync(GENERATED)) await import('./server.ts');
else {
  console.error('Parley cannot start: its generated files are missing. Run: npm run generate');
  process.exitCode = 1;
}
