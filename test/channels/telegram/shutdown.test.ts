import { beforeAll, describe, expect, test } from 'vitest';
import { startApp } from '../../helpers/app.ts';
import { connectedBot, PUBLIC_URL, startTelegramApp, type TelegramApp } from './setup.ts';

let stopping: TelegramApp;
beforeAll(async () => {
  stopping = await startTelegramApp();
});

describe('a reply that is longer than the shutdown', () => {
  test('is begun again by the next process, in the message that was begun', async () => {
    const { botId, bot } = await connectedBot(stopping);
    stopping.app.upstream.script(async ({ say, closed }) => {
      say('Once upon');
      await closed;
    });
    const texts = () => bot.chat(42).map(({ text }) => text);
    await bot.deliver(stopping.app.url, bot.text('A long story'));
    await expect.poll(texts).toEqual(['Once upon']);
    await stopping.app.close();

    const { apiRoot } = stopping.telegram;
    const next = await startApp({ publicUrl: PUBLIC_URL, telegram: { apiRoot } });
    next.upstream.script(({ say, end }) => {
      say('Once upon a time. The end.');
      end();
    });
    await expect.poll(texts).toEqual(['Once upon a time. The end.']);
    // The reply may be complete before the end of its run is stored.
    const ends = async () => {
      const runs = await next.prisma.run.findMany({ where: { botId }, orderBy: { id: 'asc' } });
      return runs.map(({ status, errorCode }) => [status, errorCode]);
    };
    await expect.poll(ends).toEqual([
      ['FAILED', 'interrupted'],
      ['COMPLETED', null],
    ]);
  });
});
