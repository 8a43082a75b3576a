import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { linkRedis } from '../../helpers/redis.ts';
import { connectedBot, PUBLIC_URL, startTelegramApp, type TelegramApp } from './setup.ts';

let at: TelegramApp;
/** Another replica of the same installation. */
let replica: TestApp;
beforeAll(async () => {
  const link = async () => (inject('redisUrl') ? (await linkRedis()).redis : undefined);
  at = await startTelegramApp({ redis: await link() });
  const telegram = { apiRoot: at.telegram.apiRoot };
  replica = await startApp({ publicUrl: PUBLIC_URL, telegram, redis: await link() });
});

describe('an update that Telegram delivers to two replicas', () => {
  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))('is answered although a clock is fast', async () => {
    const { bot } = await connectedBot(at);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    await bot.deliver(replica.url, bot.text('Hi'));
    vi.useRealTimers();
    await expect.poll(() => bot.chat(42).map(({ text }) => text)).toEqual(['Hello there.']);
  });

  test('is answered once, in the order of the others', async () => {
    const { botId, bot } = await connectedBot(at);
    const [first, second] = [bot.text('one'), bot.text('two')];
    for (const update of [first, second]) {
      const deliveries = [at.app.url, replica.url, at.app.url, replica.url].map((url) =>
        bot.deliver(url, update),
      );
      const responses = await Promise.all(deliveries);
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    }
    const texts = () => bot.chat(42).map(({ text }) => text);
    await expect.poll(texts).toEqual(['Hello there.', 'Hello there.']);
    // Also after the replies, on each replica.
    for (const url of [at.app.url, replica.url]) await bot.deliver(url, first);
    await bot.deliver(replica.url, bot.text('three'));
    await expect.poll(() => texts().length).toBe(3);
    const runs = await at.app.prisma.run.findMany({
      where: { botId },
      orderBy: { createdAt: 'asc' },
    });
    expect(runs.map(({ input }) => input)).toEqual(['one', 'two', 'three']);
    expect(bot.calls('sendMessage')).toHaveLength(3);
  });
});
