import { once } from 'node:events';
import { test, vi } from 'vitest';
import { makeId } from '../../src/ids.ts';
import { startCancel } from '../../src/runs/cancel.ts';
import { createLiveRuns } from '../../src/runs/live.ts';
import { createReplay } from '../../src/runs/replay.ts';
import { createPubSub } from '../../src/storage/pubsub.ts';
import { startApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';

test('a run is stopped within a second where the word that it is to be is lost', async () => {
  const { prisma, tenant } = await startApp();
  const botId = await (await tenant()).bot();
  const [id, ownerId] = [makeId('run'), makeId('own')];
  await prisma.owner.create({ data: { id: ownerId } });
  atTheEnd(() => prisma.owner.delete({ where: { id: ownerId } }));
  const what = { kind: 'CHAT', environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;
  const cancelled = { status: 'RUNNING', cancelRequested: true } as const;
  await prisma.run.create({ data: { id, ownerId, botId, ...what, ...cancelled } });

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  atTheEnd(() => vi.useRealTimers());
  const liveRuns = createLiveRuns();
  const { ended } = liveRuns.admit().start({ id }, async (_log, signal) => {
    await once(signal, 'abort');
  });
  const pubsub = createPubSub();
  const cancel = startCancel({
    prisma,
    owner: { id: () => ownerId },
    liveRuns,
    replay: createReplay({ prisma, liveRuns, pubsub }),
    pubsub,
    tell: () => {},
    log: { warn: () => {}, error: () => {} },
  });
  vi.advanceTimersByTime(1_000);
  await ended;
  await cancel.close();
});
