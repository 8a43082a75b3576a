import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { makeApiKey } from '../../../src/accounts/key-format.ts';
import { agent } from '../../helpers/app.ts';
import { atTheEnd } from '../../helpers/at-the-end.ts';
import { installation } from '../../helpers/installation.ts';
import { type ServerProcess, startServer } from '../../helpers/server.ts';
import { startTelegram } from '../../helpers/telegram.ts';
import { startUpstream } from '../../helpers/upstream.ts';
import { DEPLOY, members } from './setup.ts';

test('a message is answered once although the server is killed before, during and after its run', async () => {
  const telegram = await startTelegram();
  const upstream = await startUpstream();
  atTheEnd(() => Promise.all([telegram.close(), upstream.close()]));
  const bot = telegram.bot();
  const apiKey = makeApiKey();
  const options = await installation('telegram', {
    OPENAI_API_KEY: 'none',
    OPENAI_BASE_URL: upstream.baseUrl,
    OPENAI_MODEL: 'scripted',
    PARLEY_BOOTSTRAP_KEY: apiKey,
    PUBLIC_URL: 'https://bots.example',
    TELEGRAM_API_ROOT: telegram.apiRoot,
  });
  /** Lets the heartbeats of killed servers expire at once. With PGlite, the next start does that. */
  const expireHeartbeats = async () => {
    const { DATABASE_URL } = options.env;
    if (!inject('databaseUrl') || !DATABASE_URL) return;
    const client = new pg.Client(DATABASE_URL);
    await client.connect();
    await client.query("UPDATE owners SET heartbeat_at = now() - interval '1 minute'");
    await client.end();
  };
  const restart = async (server: ServerProcess) => {
    await server.stop('SIGKILL');
    await expireHeartbeats();
    return startServer(options);
  };
  const texts = () => bot.chat(42).map(({ text }) => text);

  let server = await startServer(options);
  const deployed = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      query: DEPLOY,
      variables: { bot: 'demo', source: agent(members()), token: bot.token },
    }),
  });
  expect(['DEPLOYED', 'PENDING']).toContain((await deployed.json()).data.deploy.status);
  await expect.poll(() => bot.webhook()).toBeDefined();

  // Killed while the model replies.
  let asked = Promise.withResolvers<void>();
  upstream.script(async ({ closed }) => {
    asked.resolve();
    await closed;
  });
  expect((await bot.deliver(server.url, bot.text('one'))).status).toBe(200);
  await asked.promise;
  upstream.script(({ request, say, end }) => {
    say(`Reply to ${request.body.messages.at(-1)?.content}.`);
    end();
  });
  server = await restart(server);
  await expect.poll(texts).toEqual(['Reply to one.']);

  // Killed after the run, before Telegram has the reply.
  asked = Promise.withResolvers();
  telegram.script(({ method }) => {
    if (method !== 'sendMessage') return undefined;
    asked.resolve();
    return new Promise(() => {});
  });
  const two = bot.text('two');
  await bot.deliver(server.url, two);
  await asked.promise;
  telegram.script(() => undefined);
  server = await restart(server);
  await expect.poll(texts).toEqual(['Reply to one.', 'Reply to two.']);

  // Telegram repeats the update, because it did not see the answer.
  await bot.deliver(server.url, two);
  await bot.deliver(server.url, bot.text('three'));
  await expect.poll(texts).toEqual(['Reply to one.', 'Reply to two.', 'Reply to three.']);
  await server.stop('SIGTERM');
  expect(server.output()).not.toContain(bot.token);
});
