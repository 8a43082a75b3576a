import type {
  Channel,
  Environment,
  RunKind,
  RunStatus,
} from '../../src/generated/prisma/client.ts';
import { makeId } from '../../src/ids.ts';
import type { TestApp } from './app.ts';

/** What lists of runs and their sums go by. */
export type MadeRun = {
  id: string;
  botId: string;
  deploymentId: string | null;
  environment: Environment;
  kind: RunKind;
  status: RunStatus;
  channel: Channel;
  sessionId: string | null;
  createdAt: Date;
  latencyMs: number | null;
  promptTokens: number;
  completionTokens: number;
};

/** Stores runs that never ran, in no order. */
export async function makeRuns(
  { prisma }: TestApp,
  botId: string,
  runs: Partial<MadeRun>[],
): Promise<MadeRun[]> {
  const made = runs.map((run) => ({
    id: makeId('run'),
    botId,
    deploymentId: null,
    environment: 'PRODUCTION' as const,
    kind: 'CHAT' as const,
    status: 'COMPLETED' as const,
    channel: 'API' as const,
    sessionId: null,
    createdAt: new Date(),
    latencyMs: null,
    promptTokens: 0,
    completionTokens: 0,
    ...run,
  }));
  // Those that are running stay so: somebody seems to work on them.
  const { id: ownerId } = await prisma.owner.findFirstOrThrow();
  await prisma.run.createMany({ data: made.map((run) => ({ ...run, ownerId, input: '' })) });
  return made;
}

/** The order of the list: the newest first, and of those of one moment the one with the greatest id. */
export function newestFirst(a: MadeRun, b: MadeRun): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}
