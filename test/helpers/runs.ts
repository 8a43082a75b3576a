import type {
  Channel,
  Entrance,
  Environment,
  RunKind,
  RunStatus,
} from '../../src/generated/prisma/client.ts';
import type { Queue } from '../../src/runs/queue/queue.ts';
import { makeId } from '../../src/text/ids.ts';
import type { TestApp } from './app.ts';

/** The fields of a run that lists and statistics use. */
export type MadeRun = {
  id: string;
  botId: string;
  deploymentId: string | null;
  environment: Environment;
  kind: RunKind;
  status: RunStatus;
  channel: Channel;
  entrance: Entrance | null;
  sessionId: string | null;
  input: string;
  response: string | null;
  model: string | null;
  errorCode: string | null;
  createdAt: Date;
  latencyMs: number | null;
  promptTokens: number;
  completionTokens: number;
  /** The key that requested the run. */
  keyId: string | null;
};

/** Stores runs without executing them, in no particular order. */
export async function makeRuns(
  { prisma }: Pick<TestApp, 'prisma'>,
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
    entrance: null,
    sessionId: null,
    input: '',
    response: null,
    model: null,
    errorCode: null,
    createdAt: new Date(),
    latencyMs: null,
    promptTokens: 0,
    completionTokens: 0,
    keyId: null,
    ...run,
  }));
  // An owner that lives for ever, and is no process, keeps recovery from ending the runs with the status RUNNING.
  const ownerId = makeId('own');
  await prisma.owner.create({ data: { id: ownerId, heartbeatAt: new Date('2100-01-01') } });
  // The app's retention sweep deletes old drafts, but no run that ended today.
  const finishedAt = (status: RunStatus) =>
    status === 'QUEUED' || status === 'RUNNING' ? null : new Date();
  await prisma.run.createMany({
    data: made.map((run) => ({ ...run, ownerId, finishedAt: finishedAt(run.status) })),
  });
  return made;
}

/** The order of the list: newest first, then by descending id. */
export function newestFirst(a: MadeRun, b: MadeRun): number {
  return b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1);
}

/** The id of a run that was added to a queue. */
export function idOf(added: Awaited<ReturnType<Queue['enqueue']>>): string {
  if (added.kind !== 'enqueued') throw new Error('Another request has the key.');
  return added.id;
}
