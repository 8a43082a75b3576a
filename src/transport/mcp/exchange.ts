import type { ServerResponse } from 'node:http';
import type { Log } from '../../observability/log.ts';
import type { Context } from '../../schema/context.ts';
import type { Engine } from '../engine.ts';

/** One message of an MCP client, with what its answer needs. */
export type Exchange = {
  engine: Engine;
  /** The context of the operations. Its signal is aborted when the client disconnects or cancels. */
  context: Context;
  /** The bots that the connection names with `?bots=`; undefined: all bots of the key. */
  bots: string[] | undefined;
  /** The response. A progress notification is dropped while the client does not read. */
  response: Pick<ServerResponse, 'writableNeedDrain'>;
  log: Log;
};

/** Whether a connection has a bot. */
export function hasBot({ bots }: Exchange, id: string): boolean {
  return bots?.includes(id) ?? true;
}
