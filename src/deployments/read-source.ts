import { ownTurn } from '../async/own-turn.ts';
import { createIsBlocked } from '../egress/guard.ts';
import { type ParsedSource, readSource, type SourceOptions } from '../language/read.ts';

/** Parses a source, as `readSource` does. */
export type ReadSource = (source: string, options?: SourceOptions) => Promise<ParsedSource>;

/** Characters of a source that is parsed in its own turn of the event loop, because that takes tens of milliseconds. */
const LONG_SOURCE = 16 * 1024;

/** Waits before a source is parsed, if it is long. */
export async function turnFor(source: string): Promise<void> {
  if (source.length > LONG_SOURCE) await ownTurn();
}

/** @param allowedHosts `host:port` of private hosts that tools may call. Absent: no private address is reported. */
export function createReadSource({ allowedHosts }: { allowedHosts?: string[] } = {}): ReadSource {
  const isBlocked = allowedHosts && createIsBlocked(allowedHosts);
  return async (source, options) => {
    await turnFor(source);
    return readSource(source, { isBlocked, ...options });
  };
}
