import { afterAll, expect, test } from 'vitest';
import { startApp } from '../helpers/app.ts';
import { startSite } from '../helpers/site.ts';

const site = await startSite();
afterAll(() => site.close());

test('one replica asks, another one decides and sends, and a third one tells the user', async () => {
  const options = { allowedHosts: [site.host] };
  const asking = await startApp(options);
  const deciding = await startApp(options);
  asking.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.at(-1)?.role === 'user') return call(['shop_pay', {}]);
    say('I asked.');
    return end();
  });
  // The model of the deciding replica never tells the user: the replica ends before that.
  const sent = Promise.withResolvers<void>();
  deciding.upstream.script(() => sent.resolve());
  site.handle((_request, response) => response.end('Paid.'));
  const tenant = await asking.tenant();
  const bot = await tenant.bot(
    `tools shop { capability pay "Pays." { approval post "${site.origin}/pay" } }`,
  );
  await (await tenant.chat(bot, { message: 'Pay.' }, { 'x-session-id': 'ada' })).text();
  await asking.close();

  const { id } = await deciding.prisma.approval.findFirstOrThrow({ where: { botId: bot } });
  const decision = `mutation { decideApproval(id: "${id}", decision: APPROVE) { status } }`;
  const { data } = await deciding.graphql(tenant.apiKey, decision);
  expect(data.decideApproval.status).toBe('APPROVED');
  await sent.promise;

  const telling = await startApp(options);
  telling.upstream.script(({ request, say, end }) => {
    say(request.body.messages.at(-1)?.content ?? '');
    end();
  });
  await deciding.close();
  // The next attempt follows after a pause.
  await telling.prisma.approval.update({ where: { id }, data: { availableAt: new Date() } });

  const query = `{ bot(id: "${bot}") { session(id: "ada") { waitsForApproval
    messages(last: 1) { edges { node { role text } } } } } }`;
  const session = async () => (await telling.graphql(tenant.apiKey, query)).data.bot.session;
  await expect
    .poll(async () => (await session()).waitsForApproval, { timeout: 60_000 })
    .toBe(false);
  const [{ node }] = (await session()).messages.edges;
  expect(node).toMatchObject({
    role: 'ASSISTANT',
    text: expect.stringContaining('Its result: Paid.'),
  });
  expect(site.requests).toHaveLength(1);
});
