/** Entry point of `npm start`. It imports the server only after it has checked what the server's imports need. */
import { existsSync } from 'node:fs';

const GENERATED = new URL('./generated/prisma/client.ts', import.meta.url);

if (existsSync(GENERATED)) await import('./server.ts');
else {
  console.error('Parley cannot start: its generated files are missing. Run: npm run generate');
  process.exitCode = 1;
}
