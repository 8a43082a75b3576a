import { expect, test } from 'vitest';
import { startApp } from '../helpers/app.ts';

test('a replica that stops returns its evaluation, and another one continues it without repeating finished cases', async () => {
  const stopping = await startApp();
  const tenant = await stopping.tenant();
  const bot = await tenant.bot('');
  const waits = Promise.withResolvers<void>();
  stopping.upstream.script(async ({ request, say, end, closed }) => {
    if (request.body.messages.at(-1)?.content === 'wait') {
      waits.resolve();
      await closed;
      return;
    }
    say('yes');
    end();
  });
  const source = `agentlang 5 agent "A" { prompt "p"
    test "one" { user "a" } test "two" { user "wait" expect reply is "yes" } }`;
  const { data } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!) {
      startEvaluation(botId: $bot, input: { source: $source }) { id } }`,
    { bot, source },
  );
  const where = { id: data.startEvaluation.id };
  await waits.promise;
  const passedIn = async ({ prisma }: typeof stopping) =>
    (await prisma.evaluation.findUniqueOrThrow({ where })).passed;
  await expect.poll(() => passedIn(stopping)).toBe(1);

  const continuing = await startApp();
  continuing.upstream.script(({ say, end }) => {
    say('yes');
    end();
  });
  await stopping.close();
  const statusOf = async () =>
    (await continuing.prisma.evaluation.findUniqueOrThrow({ where })).status;
  await expect.poll(statusOf, { timeout: 60_000 }).toBe('COMPLETED');
  expect(await continuing.prisma.evaluation.findUniqueOrThrow({ where })).toMatchObject({
    passed: 2,
    failed: 0,
    attempts: 1,
    ownerId: null,
    envVars: null,
  });
  const asked = continuing.upstream.requests.map(({ body }) => body.messages.at(-1)?.content);
  expect(asked).toEqual(['wait']);
});

test('a replica that continues an evaluation judges with the judge model of the evaluation', async () => {
  const stopping = await startApp();
  const tenant = await stopping.tenant();
  const waits = Promise.withResolvers<void>();
  stopping.upstream.script(async ({ closed }) => {
    waits.resolve();
    await closed;
  });
  const source =
    'agentlang 5 agent "A" { prompt "p" test "one" { user "a" expect reply judged "It agrees." } }';
  const { data } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!) {
      startEvaluation(botId: $bot, input: { source: $source, judgeModel: "strict" }) { id } }`,
    { bot: await tenant.bot(''), source },
  );
  const where = { id: data.startEvaluation.id };
  await waits.promise;
  const continuing = await startApp();
  continuing.upstream.script(({ request, say, end }) => {
    say(request.body.model === 'strict' ? '{"reason": "It does.", "holds": true}' : 'yes');
    end();
  });
  await stopping.close();
  const find = () => continuing.prisma.evaluation.findUniqueOrThrow({ where });
  await expect.poll(async () => (await find()).status, { timeout: 60_000 }).toBe('COMPLETED');
  expect(await find()).toMatchObject({ passed: 1, failed: 0, skipped: 0 });
  expect(continuing.upstream.requests.at(-1)?.body.model).toBe('strict');
});

test('a replica that stops hands its gate to another one, which repeats no finished run', async () => {
  const stopping = await startApp();
  const tenant = await stopping.tenant();
  const bot = await tenant.bot('prompt "Old."');
  const waits = Promise.withResolvers<void>();
  stopping.upstream.script(async ({ request, say, end, closed }) => {
    const { messages } = request.body;
    if (messages[0]?.content === 'New.' && messages.at(-1)?.content === 'wait') {
      waits.resolve();
      await closed;
      return;
    }
    say('yes');
    end();
  });
  for (const message of ['wait', 'one'])
    expect((await tenant.chat(bot, { message })).status).toBe(200);
  const { errors } = await tenant.graphql(
    `mutation { updateBot(id: "${bot}", input: { gate: { tests: false, replay: { last: 10 } } }) { id } }`,
  );
  expect(errors).toBeUndefined();
  const source = 'agentlang 5 agent "A" { prompt "New." }';
  const { data } = await tenant.graphql(
    'mutation ($bot: ID!, $source: String!) { deploy(botId: $bot, input: { source: $source }) { id status } }',
    { bot, source },
  );
  expect(data.deploy.status).toBe('PENDING');
  const where = { id: data.deploy.id };
  await waits.promise;
  const passed = async () => {
    const { evaluationId } = await stopping.prisma.deployment.findUniqueOrThrow({ where });
    const evaluation = { where: { id: evaluationId ?? '' } };
    return (await stopping.prisma.evaluation.findUniqueOrThrow(evaluation)).passed;
  };
  await expect.poll(passed).toBe(1);

  const continuing = await startApp();
  continuing.upstream.script(({ say, end }) => {
    say('yes');
    end();
  });
  await stopping.close();
  const statusOf = async () =>
    (await continuing.prisma.deployment.findUniqueOrThrow({ where })).status;
  await expect.poll(statusOf, { timeout: 60_000 }).toBe('DEPLOYED');
  const active = await continuing.prisma.activeDeployment.findFirstOrThrow({
    where: { botId: bot },
  });
  expect(active.deploymentId).toBe(where.id);
  const asked = continuing.upstream.requests.map(({ body }) => body.messages.at(-1)?.content);
  expect(asked).toEqual(['wait']);
});
