import type { Context } from '../context.ts';
import { startServer } from './server-process.ts';

/** Runs the server until it ends. With `--json`, stdout has one line when it is ready, and the log goes to stderr. */
export async function start(context: Context): Promise<void> {
  const { ready, ended } = startServer(context);
  const { url } = await ready;
  await context.emit({ type: 'listening', url }, () => '');
  await ended;
}
