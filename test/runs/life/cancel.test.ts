import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { createActiveRuns } from '../../../src/runs/life/active-runs.ts';
import { createCancel } from '../../../src/runs/life/cancel.ts';
import { createReplay } from '../../../src/runs/life/replay.ts';
import { makeId } from '../../../src/text/ids.ts';
import { startApp } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { frames } from '../../helpers/stream.ts';

test('a run is cancelled within a second if the notification is lost', async () => {
  const { prisma, tenant } = await startApp();
  const botId = await (await tenant()).bot();
  const [id, ownerId] = [makeId('run'), makeId('own')];
  // The app must not declare the process dead on a slow machine: its recovery would end the run.
  const heartbeatAt = new Date(Date.now() + 3_600_000);
  await prisma.owner.create({ data: { id: ownerId, heartbeatAt } });
  atTheEnd(() => prisma.owner.delete({ where: { id: ownerId } }));
  const what = { kind: 'CHAT', environment: 'PRODUCTION', channel: 'API', input: 'Hi' } as const;
  const cancelled = { status: 'RUNNING', cancelRequested: true } as const;
  await prisma.run.create({ data: { id, ownerId, botId, ...what, ...cancelled } });

  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  atTheEnd(() => vi.useRealTimers());
  const pubsub = createPubSub();
  const activeRuns = createActiveRuns({ pubsub });
  const { ended } = activeRuns
    .acquireSlot()
    .start({ id, botId, now: Date.now }, async (_log, signal) => {
      await once(signal, 'abort');
    });
  const cancel = createCancel({
    prisma,
    owner: { id: () => ownerId },
    activeRuns,
    replay: createReplay({ prisma, activeRuns, pubsub }),
    pubsub,
    notify: () => {},
    log: { warn: () => {}, error: () => {} },
  });
  await using _polling = cancel.start();
  vi.advanceTimersByTime(1_000);
  await ended;
});

test('deleting a bot cancels its runs and ends their event streams', async () => {
  const [app, other] = [await startApp(), await startApp()];
  for (const { upstream } of [app, other]) {
    upstream.script(async ({ say, closed }) => {
      say('One ');
      await closed;
    });
  }
  const tenant = await app.tenant();
  const bot = await tenant.bot();
  const chat = () =>
    tenant.chat(bot, { message: 'Hi', stream: true }, { accept: 'text/event-stream' });
  const streams = [await chat(), await chat()];
  const background = `mutation { execute(botId: "${bot}", input: { prompt: "Hi", background: true }) { id } }`;
  const { data } = await tenant.graphql(background);
  const runIds = [...streams.map(({ headers }) => headers.get('x-run-id')), data.execute.id];
  const { headers } = tenant;
  for (const runId of runIds) {
    streams.push(await fetch(`${other.url}/v1/bots/${bot}/runs/${runId}/events`, { headers }));
  }
  const underWay = () => app.upstream.openResponses() + other.upstream.openResponses();
  await expect.poll(underWay).toBe(3);
  const queuedHeaders = { 'x-session-id': 's', accept: 'text/event-stream' };
  const waiting = [
    tenant.chat(bot, { message: 'First', stream: true }, queuedHeaders),
    tenant.chat(bot, { message: 'Second', stream: true }, queuedHeaders),
  ];
  await expect.poll(app.waiting).toBe(1);

  await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`);
  await expect.poll(underWay).toBe(0);
  for (const { status } of await Promise.all(waiting)) expect([200, 500]).toContain(status);
  await expect.poll(underWay).toBe(0);
  const received = await Promise.all(streams.map((stream) => frames(stream)));
  for (const events of received.slice(0, 2)) {
    expect(events.at(-1)).toMatchObject({ event: 'done', status: 'cancelled' });
  }
  // A reader on another replica may find the run already deleted.
  for (const events of received.slice(2)) expect(events.at(-1)).toMatchObject({ event: 'done' });
});
