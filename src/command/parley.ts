#!/usr/bin/env node
/** The entry point of the command. `build/server.ts` bundles it for Node.js 20 and later. */
import { EXIT, Interrupted } from './errors.ts';
import { runLine } from './program.ts';

/** `build/server.ts` inserts the version of package.json. */
declare const PARLEY_VERSION: string;

const interruption = new AbortController();
process.on('SIGINT', () => {
  if (interruption.signal.aborted) process.exit(EXIT.interrupted);
  interruption.abort(new Interrupted());
});
// An `error` event without a listener ends the process before the awaited write rejects.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const code = await runLine(process.argv.slice(2), {
  version: PARLEY_VERSION,
  signal: interruption.signal,
});
process.exit(code);
