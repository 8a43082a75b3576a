import { beforeAll, describe, expect, inject, test } from 'vitest';
import { startApp, type TestApp } from '../../helpers/app.ts';
import { linkRedis, type RedisLink } from '../../helpers/redis.ts';
import { codeOf, postVisit, say, visit, WEB } from './visitors.ts';

describe.runIf(inject('redisUrl'))('the limits of visitors, with two replicas', () => {
  let replicas: TestApp[];
  let link: RedisLink;
  beforeAll(async () => {
    link = await linkRedis();
    replicas = [
      await startApp({ redis: link.redis }),
      await startApp({ redis: (await linkRedis()).redis }),
    ];
  });

  const appOf = (at: number) => replicas[at % 2] as TestApp;

  /** Repeats work with a new bot until it lies within one window of Redis' clock, whose end would renew the limits. */
  const inOneWindow = async (seconds: number, work: (bot: string) => Promise<number>) => {
    const windowNow = async () => Math.floor(Number((await link.redis.client.time())[0]) / seconds);
    const tenant = await appOf(0).tenant();
    for (;;) {
      const bot = await tenant.bot(WEB);
      const before = await windowNow();
      const result = await work(bot);
      if ((await windowNow()) === before) return result;
    }
  };

  test('allow exactly 20 new sessions an hour from an address', async () => {
    const begun = await inOneWindow(3_600, async (bot) => {
      const posts = Array.from({ length: 30 }, (_, at) =>
        postVisit(appOf(at), bot, {}, { origin: appOf(at).url }),
      );
      return (await Promise.all(posts)).filter(({ ok }) => ok).length;
    });
    expect(begun).toBe(20);
  });

  test('allow exactly 20 messages a minute from an address', async () => {
    const answered = await inOneWindow(60, async (bot) => {
      const visits = await Promise.all([0, 1, 2, 3].map((at) => visit(appOf(at), bot)));
      const chats = Array.from({ length: 28 }, (_, at) =>
        say(appOf(at), bot, visits[at % 4]?.token ?? '', { origin: appOf(at).url }),
      );
      const answers = await Promise.all(chats);
      const refused = answers.filter((answer) => codeOf(answer) === 'RATE_LIMIT_EXCEEDED');
      expect(refused.length + answers.filter(({ errors }) => !errors).length).toBe(28);
      return answers.length - refused.length;
    });
    expect(answered).toBe(20);
  });
});
