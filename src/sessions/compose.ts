import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { Log } from '../observability/log.ts';
import type { Database } from '../storage/database.ts';
import { createHistory, type History } from './history.ts';
import { createDeleteLastTurn, type DeleteLastTurn } from './last-turn.ts';
import { createMemory, type Memory } from './memory.ts';
import { createSessions, type Sessions } from './sessions.ts';
import { createTurns, type Turns } from './turns.ts';

/** The composed domain of sessions. */
export type SessionsDomain = {
  sessions: Sessions;
  history: History;
  memory: Memory;
  turns: Turns;
  deleteLastTurn: DeleteLastTurn;
};

type Parts = Pick<Database, 'prisma' | 'sql'> & { owner: Owner; pubsub: PubSub; log: Log };

export function createSessionsDomain({ prisma, sql, owner, pubsub, log }: Parts): SessionsDomain {
  const memory = createMemory({ prisma });
  const turns = createTurns({ prisma, sql, owner, pubsub, log });
  return {
    sessions: createSessions({ prisma, turns }),
    history: createHistory({ sql }),
    memory,
    turns,
    deleteLastTurn: createDeleteLastTurn({ prisma, turns }),
  };
}
