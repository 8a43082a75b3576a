import { expect, test } from 'vitest';
import { startApp } from '../helpers/app.ts';

test('a stored tool result has the name of the tool that its call names, and no other message has', async () => {
  const app = await startApp();
  const tenant = await app.tenant();
  const bot = await tenant.bot('tools time\n memory { fact name "The name" }');
  let calls = 0;
  app.upstream.script(({ call, say, end }) => {
    calls += 1;
    if (calls === 1) return call(['time_now', {}], ['memory_save', { name: 'name', value: 'Ada' }]);
    if (calls === 2) return call(['no_such_tool', {}]);
    say('Done.');
    end();
  });
  await tenant.chat(bot, { message: 'Hi' }, { 'x-session-id': 'ada' });
  const { data, errors } = await tenant.graphql(
    `query ($bot: ID!) { bot(id: $bot) { session(id: "ada") {
      messages { edges { node { role toolName } } }
    } } }`,
    { bot },
  );
  expect(errors).toBeUndefined();
  const stored = await app.prisma.message.findMany({
    where: { run: { botId: bot } },
    orderBy: { position: 'asc' },
  });
  const called = stored.flatMap(({ toolCalls }) =>
    Array.isArray(toolCalls) ? toolCalls.map((one) => (one as { name: string }).name) : [],
  );
  const nodes = data.bot.session.messages.edges.map(({ node }: { node: object }) => node);
  expect(nodes).toEqual([
    { role: 'USER', toolName: null },
    { role: 'ASSISTANT', toolName: null },
    { role: 'TOOL', toolName: called[0] },
    { role: 'TOOL', toolName: called[1] },
    { role: 'ASSISTANT', toolName: null },
    { role: 'TOOL', toolName: called[2] },
    { role: 'ASSISTANT', toolName: null },
  ]);
  expect(called).toHaveLength(3);
  expect(new Set(called).size).toBe(3);
});
