import { afterEach, expect, test } from 'vitest';
import { createInbox, type Inbox, type TakenUpdate } from '../../../src/channels/telegram/inbox.ts';
import { createPubSub } from '../../../src/coordination/pubsub.ts';
import { makeId } from '../../../src/text/ids.ts';
import { testDatabase } from '../../helpers/database.ts';

const { prisma } = await testDatabase();
// An inbox takes the updates of all Telegram bots.
afterEach(() => prisma.telegramUpdate.deleteMany());

/** The inbox of a process, which may be declared dead, with an update for it. */
async function inboxWithUpdate() {
  const telegramBotId = makeId('bot');
  const botId = makeId('bot');
  const accountId = makeId('acc');
  const environment = 'PRODUCTION' as const;
  await prisma.account.create({ data: { id: accountId, name: 'Tenant', plan: 'FREE' } });
  await prisma.bot.create({ data: { id: botId, accountId, name: 'Bot' } });
  const deploymentId = makeId('dep');
  const deployment = { id: deploymentId, botId, environment, source: '' };
  await prisma.deployment.create({ data: { ...deployment, status: 'DEPLOYED' } });
  await prisma.channelState.create({
    data: {
      ...{ deploymentId, botId, environment, externalId: telegramBotId },
      channel: 'TELEGRAM',
      status: 'CONNECTED',
    },
  });
  let ownerId = '';
  const join = async () => {
    await prisma.owner.deleteMany({ where: { id: ownerId } });
    ownerId = makeId('own');
    await prisma.owner.create({ data: { id: ownerId } });
  };
  await join();
  let isAlive = true;
  const owner = { id: () => ownerId, isAlive: () => isAlive };
  const inbox = createInbox({ prisma, owner, pubsub: createPubSub() });
  const store = (to: Inbox, updateId: number) =>
    to.store(
      { telegramBotId, botId, environment },
      {
        updateId,
        sessionId: 'telegram:42',
        message: { chatId: 42, request: { kind: 'text', text: 'Hi' } },
      },
    );
  await store(inbox, 1);
  const take = async (from = inbox): Promise<TakenUpdate> => {
    const taken = await from.take([]);
    if (!taken) throw new Error('There is no update.');
    return taken;
  };
  /** Stores an update and takes it in one transaction, so that `now()` does not advance between the two. */
  const storeAndTake = (updateId: number) =>
    prisma.$transaction(async (tx) => {
      const within = createInbox({ prisma: tx, owner, pubsub: createPubSub() });
      await store(within, updateId);
      await within.done(await take(within));
    });
  const read = () => prisma.telegramUpdate.findFirstOrThrow({ where: { telegramBotId } });
  return {
    inbox,
    take,
    storeAndTake,
    read,
    /** Another process declares this one dead. */
    loseOwner: join,
    /** Sets whether the last heartbeat is recent. */
    setAlive(alive: boolean) {
      isAlive = alive;
    },
  };
}

test('an attempt that lost its lease does not release the next attempt of the same process', async () => {
  const { inbox, take, read, loseOwner } = await inboxWithUpdate();
  const first = await take();
  await loseOwner();
  const second = await take();
  expect(second.attempts).toBe(2);
  const taken = await read();
  await inbox.sent(first, [7]);
  await inbox.postpone(first, 0);
  await inbox.done(first);
  expect(await read()).toEqual(taken);
  await inbox.done(second);
  expect(await read()).toMatchObject({ doneAt: expect.any(Date), message: null });
});

test('an answer that was sent after its process lost its lease is not repeated', async () => {
  const { inbox, take, read, loseOwner } = await inboxWithUpdate();
  const update = await take();
  await loseOwner();
  await inbox.sent(update, [7]);
  await inbox.done(update);
  expect(await read()).toMatchObject({ sentIds: [7n], doneAt: expect.any(Date) });
});

test('an attempt calls Telegram only while its process is sure to hold the update', async () => {
  const { inbox, take, loseOwner, setAlive } = await inboxWithUpdate();
  const update = await take();
  const { signal } = new AbortController();
  await inbox.untilHeld(update, signal);
  setAlive(false);
  const outcome = inbox.untilHeld(update, signal).catch((error: unknown) => error);
  await loseOwner();
  setAlive(true);
  expect(await outcome).toMatchObject({ code: 'interrupted' });
});

test('an update may be taken at once, though its time is rounded up', async () => {
  const { inbox, take, storeAndTake } = await inboxWithUpdate();
  await inbox.done(await take());
  // Half of the times are rounded up.
  for (let updateId = 2; updateId < 30; updateId += 1) await storeAndTake(updateId);
});
