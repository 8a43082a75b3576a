import type { PubSub } from '../coordination/pubsub.ts';
import type { Owner } from '../coordination/worker-lease.ts';
import type { Log } from '../observability/log.ts';
import type { Database } from '../storage/database.ts';
import { createHistory } from './history.ts';
import { createMemory } from './memory.ts';
import { createSessions } from './sessions.ts';
import { createTurns } from './turns.ts';

type Parts = Pick<Database, 'prisma' | 'sql'> & { owner: Owner; pubsub: PubSub; log: Log };

export function createSessionsDomain({ prisma, sql, owner, pubsub, log }: Parts) {
  const memory = createMemory({ prisma });
  const turns = createTurns({ prisma, sql, owner, pubsub, log });
  return {
    sessions: createSessions({ prisma, turns }),
    history: createHistory({ sql }),
    memory,
    turns,
  };
}
