/** Entry point of `npm start`. It runs the bundle of the server, which loads in half the time of its modules. */
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

/**
 * The bytes at the end of glibc's heap above which it returns freed memory. By default, each large block that is freed
 * raises the limit. glibc reads the environment only when a process starts, so this process replaces itself. A parent with
 * a channel to this process sets the variable itself, because a replaced process loses the channel.
 */
const TRIM = { MALLOC_TRIM_THRESHOLD_: '131072' };

if (
  process.platform === 'linux' &&
  !process.connected &&
  process.env.MALLOC_TRIM_THRESHOLD_ === undefined
) {
  const words = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve(process.execPath, words, { ...TRIM, ...process.env });
}

// A start compiles only the files that changed since the last one. Without write access, it compiles them all.
enableCompileCache(fileURLToPath(new URL('../../node_modules/.cache/parley', import.meta.url)));

const BUNDLE = new URL('../generated/server/server.mjs', import.meta.url);

if (existsSync(BUNDLE)) await import(BUNDLE.href);
else {
  console.error('Parley cannot start: its generated files are missing. Run: npm run build');
  process.exitCode = 1;
}
