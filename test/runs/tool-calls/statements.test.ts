import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { type Site, startSite } from '../../helpers/site.ts';
import { recordStatements } from '../../helpers/statements.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let statements: ReturnType<typeof recordStatements>;

beforeAll(async () => {
  site = await startSite();
  site.handle((_request, response) => response.end('Done.'));
  app = await startApp({ allowedHosts: [site.host] });
  tenant = await app.tenant();
  app.upstream.script(({ request, call, say, end }) => {
    const { messages } = request.body;
    const [name, ...inputs] =
      messages.findLast(({ role }) => role === 'user')?.content.split(' ') ?? [];
    if (messages.at(-1)?.role === 'user' && name !== 'Hi')
      return call(...inputs.map((value): [string, unknown] => [`shop_${name}`, { value }]));
    say('Hello.');
    return end();
  });
});
afterAll(() => site.close());

/** Counts the statements of one chat: those about the bot, its run and its tool calls. */
const statementsOf = async (bot: string, message: string) => {
  statements.clear();
  const response = await tenant.chat(bot, { message });
  const { run_id: runId } = await response.json();
  expect(response.status).toBe(200);
  const texts = statements.texts();
  const calls = await app.prisma.toolCall.findMany({ where: { runId }, select: { id: true } });
  const ids = [bot, runId, ...calls.map(({ id }) => id)];
  return texts.filter((text) => ids.some((id) => text.includes(id))).length;
};

test('a chat without tools, and one whose calls only read, have two statements; each effect has two more', async () => {
  statements = recordStatements();
  // The caches of keys and bots do not expire.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  const plain = await tenant.bot();
  const bot = await tenant.bot(`tools shop {
    capability find "Finds." { input { value string } get "${site.origin}/find" }
    capability search "Searches." { input { value string } reads post "${site.origin}/search" }
    capability pay "Pays." { input { value string } post "${site.origin}/pay" }
  }`);
  // The first chats load the deployments.
  for (const warm of [plain, bot]) await statementsOf(warm, 'Hi');
  const counts = {
    plain: await statementsOf(plain, 'Hi'),
    unused: await statementsOf(bot, 'Hi'),
    find: await statementsOf(bot, 'find a b c'),
    search: await statementsOf(bot, 'search a b'),
    pay: await statementsOf(bot, 'pay a'),
  };
  expect(counts).toEqual({ plain: 2, unused: 2, find: 2, search: 2, pay: 4 });
  const calls = await app.prisma.toolCall.groupBy({
    by: ['name'],
    where: { run: { botId: bot } },
    _count: true,
    orderBy: { name: 'asc' },
  });
  expect(calls.map(({ name, _count }) => [name, _count])).toEqual([
    ['shop.find', 3],
    ['shop.pay', 1],
    ['shop.search', 2],
  ]);
});
