import { beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
  bot = await tenant.bot('prompt "Old."');
  app.upstream.requests.length = 0;
  reply(() => 'Hello.');
});

const PASSES = 'test "greets" {\n    user "Hi"\n    expect reply contains "hello"\n  }';

const sourceWith = (prompt = 'New.', tests = PASSES) =>
  `agentlang 5\nagent "Desk" {\n  description "d"\n  prompt "${prompt}"\n  ${tests}\n}\n`;

/** Scripts a model that replies by the prompt of the definition, and a model that judges. */
function reply(replyTo: (prompt: string) => string, judge = '') {
  app.upstream.script(({ request, say, end }) => {
    const system = request.body.messages[0]?.content ?? '';
    say(system.includes('You compare two replies') ? judge : replyTo(system));
    end();
  });
}

/** Scripts a model whose answers to new definitions wait until a signal. */
function wait() {
  const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  app.upstream.script(async ({ request, say, end, closed }) => {
    if (!request.body.messages[0]?.content.startsWith('Old.')) {
      asked.resolve();
      await Promise.race([goOn.promise, closed]);
    }
    say('Hello.');
    end();
  });
  return { asked: asked.promise, goOn: goOn.resolve };
}

const setGate = async (gate: object | null, id = bot, key = tenant.apiKey) =>
  app.graphql(
    key,
    `mutation ($id: ID!, $gate: GateInput) { updateBot(id: $id, input: { gate: $gate }) {
      gate { tests repeat replay { last feedback maxWorse maxDiverged } } } }`,
    { id, gate },
  );

const FACTS = `id status active waitsForGate evaluationId version deployedAt endedAt
  diagnostics { severity code message line column } previous { id }`;

const deploy = async (input: object, key = tenant.apiKey) => {
  const { data, errors } = await app.graphql(
    key,
    `mutation ($bot: ID!, $input: DeployInput!) { deploy(botId: $bot, input: $input) { ${FACTS} } }`,
    { bot, input },
  );
  return { deployment: data?.deploy, errors };
};

const read = async (id: string) =>
  (await tenant.graphql(`{ node(id: "${id}") { ... on Deployment { ${FACTS} } } }`)).data.node;

/** The deployment when its gate is decided. */
const decided = async (id: string) => {
  await expect.poll(async () => (await read(id)).waitsForGate, { timeout: 60_000 }).toBe(false);
  return read(id);
};

const activeId = async () => {
  const { data } = await tenant.graphql(`{ bot(id: "${bot}") { activeDeployment { id } } }`);
  return data.bot.activeDeployment.id;
};

const linesOf = ({ diagnostics }: { diagnostics: { code: string; message: string }[] }) =>
  diagnostics.map(({ code, message }) => `${message} [${code}]`);

const audited = async () => {
  const { data } = await tenant.graphql(
    '{ viewer { account { auditLog(first: 10) { edges { node { action targetId } } } } } }',
  );
  return data.viewer.account.auditLog.edges.map(
    ({ node }: { node: { action: string } }) => node.action,
  );
};

describe('the gate of a bot', () => {
  test('is off by default, has defaults, and is removed by null', async () => {
    const { data } = await tenant.graphql(`{ bot(id: "${bot}") { gate { tests } } }`);
    expect(data.bot.gate).toBeNull();
    expect((await setGate({})).data.updateBot.gate).toEqual({
      tests: true,
      repeat: 1,
      replay: null,
    });
    const replay = { last: 50, feedback: null, maxWorse: 0, maxDiverged: 5 };
    expect((await setGate({ tests: false, replay: {} })).data.updateBot.gate).toEqual({
      tests: false,
      repeat: 1,
      replay,
    });
    await tenant.graphql(`mutation { updateBot(id: "${bot}", input: { name: "Desk" }) { id } }`);
    const { data: kept } = await tenant.graphql(`{ bot(id: "${bot}") { gate { tests } } }`);
    expect(kept.bot.gate).toEqual({ tests: false });
    expect((await setGate(null)).data.updateBot.gate).toBeNull();
  });

  test.each([
    { tests: false },
    { repeat: 0 },
    { repeat: 11 },
    { replay: { last: 501 } },
    { replay: { maxWorse: -1 } },
    { replay: { maxDiverged: 501 } },
  ])('is refused with %j', async (gate) => {
    expect((await setGate(gate)).errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
  });

  test('is set with the scope ADMIN, and read with the scope DEPLOY', async () => {
    const deployer = await tenant.key({ scopes: ['DEPLOY'] });
    const code = ({ errors }: { errors?: { extensions: Record<string, unknown> }[] }) =>
      errors?.[0]?.extensions.code;
    expect(code(await setGate({}, bot, deployer))).toBe('INSUFFICIENT_SCOPE');
    const question = `{ bot(id: "${bot}") { gate { tests } } }`;
    expect(code(await app.graphql(deployer, question))).toBeUndefined();
    const reader = await tenant.key({ scopes: ['RUNS'] });
    expect(code(await app.graphql(reader, question))).toBe('INSUFFICIENT_SCOPE');
  });
});

describe('a deploy with a gate', () => {
  test('is pending at once, and becomes active when its tests have passed', async () => {
    await setGate({ tests: true });
    const before = await activeId();
    const { asked, goOn } = wait();
    const { deployment } = await deploy({ source: sourceWith() });
    expect(deployment).toMatchObject({ status: 'PENDING', waitsForGate: true, active: false });
    expect(deployment.endedAt).toBeNull();
    await asked;
    expect(await activeId()).toBe(before);
    expect((await tenant.chat(bot, { message: 'Hi' })).status).toBe(200);
    goOn();
    expect(await decided(deployment.id)).toMatchObject({
      status: 'DEPLOYED',
      active: true,
      diagnostics: [],
      evaluationId: expect.stringMatching(/^eva_/),
      previous: { id: before },
    });
    expect(await activeId()).toBe(deployment.id);
  });

  test('fails with a line for each failed test, and what ran before goes on', async () => {
    await setGate({ tests: true });
    const before = await activeId();
    const tests = `${PASSES}\n  test "says \\"bye\\"" {\n    user "Bye"\n    expect reply contains "bye"\n  }`;
    const { deployment } = await deploy({ source: sourceWith('New.', tests) });
    const failed = await decided(deployment.id);
    expect(failed).toMatchObject({ status: 'FAILED', active: false, deployedAt: null });
    expect(failed.diagnostics).toEqual([
      expect.objectContaining({
        severity: 'ERROR',
        code: 'test-failed',
        line: 11,
        column: 5,
        message:
          'the test "says \\"bye\\"" failed: expected reply contains "bye". The reply was: Hello',
      }),
    ]);
    expect(await activeId()).toBe(before);
    const stored = await app.prisma.deployment.findUniqueOrThrow({ where: { id: failed.id } });
    expect(stored.envVars).toBeNull();
    expect(await audited()).toContain('DEPLOY_FAILED');
    const list = await fetch(`${app.url}/v1/bots/${bot}/deployments`, { headers: tenant.headers });
    const { deployments } = (await list.json()) as { deployments: object[] };
    expect(deployments[0]).toMatchObject({
      status: 'failed',
      parse_errors: [expect.stringMatching(/^11:5 the test .* \[test-failed\]$/)],
    });
  });

  test('shows what a failed test expected only to keys that may read the definition', async () => {
    await setGate({ tests: true });
    const tests =
      'test "the secret plan" {\n    user "Bye"\n    expect reply contains "secret"\n  }';
    const { deployment } = await deploy({ source: sourceWith('New.', tests) });
    await decided(deployment.id);
    const question = `{ bot(id: "${bot}") { deployments(first: 1) {
      nodes: edges { node { diagnostics { code message line column } } } } } }`;
    const shownTo = async (key: string) => {
      const { data } = await app.graphql(key, question);
      return data.bot.deployments.nodes[0].node.diagnostics[0];
    };
    const chatter = await tenant.key({ scopes: ['CHAT'] });
    const deployer = await tenant.key({ scopes: ['DEPLOY'] });
    expect((await shownTo(deployer)).message).toMatch(/^the test "the secret plan" failed: /);
    expect(await shownTo(chatter)).toEqual({
      code: 'test-failed',
      message: 'a test failed; its name and its result require the scope DEPLOY',
      line: 7,
      column: 5,
    });
    const headers = { authorization: `Bearer ${chatter}` };
    const list = await fetch(`${app.url}/v1/bots/${bot}/deployments`, { headers });
    expect(await list.text()).not.toContain('secret');
  });

  test('counts a completed evaluation of the same source, gate and variables', async () => {
    await setGate({ tests: true });
    const source = sourceWith();
    const { data } = await tenant.graphql(
      `mutation ($bot: ID!, $source: String!) {
        startEvaluation(botId: $bot, input: { source: $source }) { id } }`,
      { bot, source },
    );
    const where = { id: data.startEvaluation.id };
    const statusOf = async () => (await app.prisma.evaluation.findUniqueOrThrow({ where })).status;
    await expect.poll(statusOf, { timeout: 30_000 }).toBe('COMPLETED');
    // An evaluation of some tests, and one with its own judge model, count for no gate.
    for (const other of ['testNames: ["greets"]', 'judgeModel: "lenient"']) {
      const { data } = await tenant.graphql(
        `mutation { startEvaluation(botId: "${bot}", input: { evaluationId: "${where.id}", ${other} }) { id } }`,
      );
      const { id } = data.startEvaluation;
      const isDone = async () =>
        (await app.prisma.evaluation.findUniqueOrThrow({ where: { id } })).finishedAt !== null;
      await expect.poll(isDone, { timeout: 30_000 }).toBe(true);
    }
    const asked = app.upstream.requests.length;
    const { deployment } = await deploy({ source });
    expect(await decided(deployment.id)).toMatchObject({
      status: 'DEPLOYED',
      evaluationId: where.id,
    });
    expect(app.upstream.requests.length).toBe(asked);
    // Other variables, another gate, and an evaluation of yesterday ask anew.
    const anew = async (input: object) => {
      const { deployment } = await deploy({ source, ...input });
      const { status, evaluationId } = await decided(deployment.id);
      expect(status).toBe('DEPLOYED');
      return evaluationId;
    };
    expect(await anew({ envVars: [{ name: 'A', value: 'b' }] })).not.toBe(where.id);
    await setGate({ tests: true, repeat: 2 });
    expect(await anew({})).not.toBe(where.id);
    await setGate({ tests: true });
    await app.prisma.evaluation.updateMany({
      where: { botId: bot },
      data: { finishedAt: new Date(Date.now() - 25 * 60 * 60 * 1_000) },
    });
    expect(await anew({ unsetEnvVars: ['A'] })).not.toBe(where.id);
  });

  test('answers with the decision if the evaluation exists already', async () => {
    await setGate({ tests: true });
    const source = sourceWith();
    await decided((await deploy({ source })).deployment.id);
    // The deploy waits 5 seconds for the decision. A pause of a busy machine may be as long.
    const limit = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
    onTestFinished(() => limit.mockRestore());
    expect((await deploy({ source })).deployment).toMatchObject({
      status: 'DEPLOYED',
      waitsForGate: false,
      active: true,
    });
  });

  test('evaluates again after a failure', async () => {
    await setGate({ tests: true });
    const source = sourceWith();
    reply(() => 'No.');
    expect(await decided((await deploy({ source })).deployment.id)).toMatchObject({
      status: 'FAILED',
    });
    reply(() => 'Hello.');
    expect(await decided((await deploy({ source })).deployment.id)).toMatchObject({
      status: 'DEPLOYED',
    });
  });

  test('is failed and superseded by a second deploy, and its evaluation is cancelled', async () => {
    await setGate({ tests: true });
    const { asked, goOn } = wait();
    const { deployment: first } = await deploy({ source: sourceWith() });
    await asked;
    const { evaluationId } = await read(first.id);
    const { deployment: second } = await deploy({ source: sourceWith('Newer.') });
    const old = await read(first.id);
    expect(old).toMatchObject({ status: 'FAILED', waitsForGate: false });
    expect(linesOf(old)).toEqual([
      `the deployment #${second.version} replaced this one, which waited for its gate [superseded]`,
    ]);
    const where = { action: 'DEPLOY_FAILED' as const, targetId: first.id };
    expect(await app.prisma.auditEntry.findMany({ where })).toHaveLength(1);
    const { envVars } = await app.prisma.deployment.findUniqueOrThrow({ where: { id: first.id } });
    expect(envVars).toBeNull();
    const statusOf = async () =>
      (await app.prisma.evaluation.findUniqueOrThrow({ where: { id: evaluationId } })).status;
    await expect.poll(statusOf, { timeout: 30_000 }).toBe('CANCELLED');
    goOn();
    reply(() => 'Hello.');
    expect(await decided(second.id)).toMatchObject({ status: 'DEPLOYED', active: true });
    expect((await read(first.id)).status).toBe('FAILED');
  });

  test('keeps waiting beside a deploy with mistakes, and is replaced by a rollback', async () => {
    const before = await activeId();
    await setGate({ tests: true });
    const { asked } = wait();
    const { deployment } = await deploy({ source: sourceWith() });
    await asked;
    expect((await deploy({ source: 'agentlang 5 agent "A" {}' })).deployment.status).toBe('FAILED');
    expect((await read(deployment.id)).waitsForGate).toBe(true);
    const { data, errors } = await tenant.graphql(
      `mutation { rollback(botId: "${bot}", deploymentId: "${before}") { ${FACTS} } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.rollback).toMatchObject({ status: 'DEPLOYED', active: true });
    expect((await read(deployment.id)).status).toBe('FAILED');
  });

  test('cannot be rolled back to while it waits', async () => {
    await setGate({ tests: true });
    const { asked } = wait();
    const { deployment } = await deploy({ source: sourceWith() });
    await asked;
    const { errors } = await tenant.graphql(
      `mutation { rollback(botId: "${bot}", deploymentId: "${deployment.id}") { id } }`,
    );
    expect(errors?.[0]?.extensions.code).toBe('DEPLOYMENT_NOT_DEPLOYABLE');
  });

  test('keeps the gate that it had while the gate of the bot changes twice', async () => {
    await setGate({ tests: true });
    const { asked, goOn } = wait();
    const { deployment } = await deploy({ source: sourceWith() });
    await asked;
    await setGate({ tests: false, replay: { last: 10 } });
    await setGate(null);
    goOn();
    const { status, evaluationId } = await decided(deployment.id);
    expect(status).toBe('DEPLOYED');
    const where = { evaluationId };
    expect(await app.prisma.evaluationCase.findMany({ where })).toMatchObject([
      { name: 'greets', verdict: 'PASSED' },
    ]);
  });

  test('fails, never passes, while the model is away', async () => {
    await setGate({ tests: true });
    app.upstream.script(({ response }) => void response.writeHead(401).end('{}'));
    const failed = await decided((await deploy({ source: sourceWith() })).deployment.id);
    expect(failed.status).toBe('FAILED');
    expect(linesOf(failed)[0]).toMatch(
      /^the evaluation of the gate could not be executed: .*model.* \[gate-failed\]$/i,
    );
  });

  test('fails if there is nothing to check, and if its evaluation is cancelled', async () => {
    await setGate({ tests: true, replay: {} });
    const empty = await decided((await deploy({ source: sourceWith('New.', '') })).deployment.id);
    expect(empty.status).toBe('FAILED');
    expect(linesOf(empty)[0]).toMatch(/found nothing to check/);
    const { asked } = wait();
    const { deployment } = await deploy({ source: sourceWith() });
    await asked;
    const { evaluationId } = await read(deployment.id);
    await tenant.graphql(`mutation { cancelEvaluation(id: "${evaluationId}") { id } }`);
    const cancelled = await decided(deployment.id);
    expect(linesOf(cancelled)).toEqual(['the evaluation of the gate was cancelled [gate-failed]']);
  });

  test('does not concern staging, but promotion', async () => {
    await setGate({ tests: true });
    const { deployment } = await deploy({ source: sourceWith(), environment: 'STAGING' });
    expect(deployment.status).toBe('DEPLOYED');
    reply(() => 'No.');
    const { data } = await tenant.graphql(
      `mutation { promote(botId: "${bot}", deploymentId: "${deployment.id}") { ${FACTS} } }`,
    );
    expect(data.promote).toMatchObject({ status: 'PENDING', waitsForGate: true });
    expect((await decided(data.promote.id)).status).toBe('FAILED');
  });
});

describe('a gate with recorded runs', () => {
  const chat = async () => {
    for (const message of ['one', 'two'])
      expect((await tenant.chat(bot, { message })).status).toBe(200);
  };

  test('counts the runs that are worse', async () => {
    reply((prompt) => prompt, '{"reason": "So.", "better": "neither"}');
    await chat();
    const replay = { last: 10, maxWorse: 0, maxDiverged: 0 };
    await setGate({ tests: false, replay });
    const same = await decided((await deploy({ source: sourceWith() })).deployment.id);
    expect(same).toMatchObject({ status: 'DEPLOYED' });
    const { evaluationId } = same;
    expect(await app.prisma.evaluationCase.count({ where: { evaluationId } })).toBe(2);
    app.upstream.script(({ request, response, say, end }) => {
      if (request.body.messages[0]?.content.startsWith('Worse.'))
        return void response.writeHead(400).end('{"error": {"message": "refused"}}');
      say('Hello.');
      return end();
    });
    const worse = await decided((await deploy({ source: sourceWith('Worse.') })).deployment.id);
    expect(worse.status).toBe('FAILED');
    expect(linesOf(worse)).toEqual([
      '2 of 2 replayed runs are worse; at most 0 may be [replay-failed]',
    ]);
    await setGate({ tests: false, replay: { ...replay, maxWorse: 2 } });
    const allowed = await decided((await deploy({ source: sourceWith('Worse.') })).deployment.id);
    expect(allowed.status).toBe('DEPLOYED');
  });

  test('fails if no run could be compared or repeated', async () => {
    reply((prompt) => prompt, 'nonsense');
    await chat();
    await setGate({ tests: false, replay: {} });
    const unjudged = await decided((await deploy({ source: sourceWith() })).deployment.id);
    expect(linesOf(unjudged)).toEqual([
      '2 of 2 replayed runs could not be compared, because no model judged the replies [replay-failed]',
    ]);
    await app.prisma.runPrompt.deleteMany({ where: { run: { botId: bot } } });
    const gone = await decided((await deploy({ source: sourceWith('Newer.') })).deployment.id);
    expect(linesOf(gone)[0]).toMatch(/^none of 2 recorded runs could be repeated/);
  });
});

describe('a deploy round the gate', () => {
  test('needs a reason and the scope ADMIN, and is in the audit log', async () => {
    await setGate({ tests: true });
    reply(() => 'No.');
    const source = sourceWith();
    const input = { source, skipGate: true, message: 'The model server is down.' };
    const deployer = await tenant.key({ scopes: ['DEPLOY'] });
    expect((await deploy(input, deployer)).errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    const { errors } = await deploy({ source, skipGate: true, message: ' ' });
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    const { deployment } = await deploy(input);
    expect(deployment).toMatchObject({ status: 'DEPLOYED', active: true, evaluationId: null });
    expect((await audited()).filter((action: string) => action === 'SKIP_GATE')).toHaveLength(1);
    await setGate(null);
    await deploy(input);
    expect((await audited()).filter((action: string) => action === 'SKIP_GATE')).toHaveLength(1);
  });

  test('works over REST', async () => {
    await setGate({ tests: true });
    const post = (body: object) =>
      fetch(`${app.url}/v1/bots/${bot}/deploy`, {
        method: 'POST',
        headers: { ...tenant.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ agentlang: sourceWith(), ...body }),
      });
    expect((await post({ skip_gate: true })).status).toBe(400);
    const { asked, goOn } = wait();
    expect(await (await post({})).json()).toMatchObject({ status: 'pending', ended_at: null });
    await asked;
    expect(await (await post({ skip_gate: true, message: 'Now.' })).json()).toMatchObject({
      status: 'deployed',
    });
    goOn();
  });
});

describe('a gate whose process stops', () => {
  /** Stores a deployment that waits, as a process leaves it that died in a phase. */
  const left = async (change: object, prompt = 'New.') => {
    const { asked } = wait();
    await setGate({ tests: true });
    const { deployment } = await deploy({ source: sourceWith(prompt) });
    await asked;
    reply(() => 'Hello.');
    const { evaluationId } = await read(deployment.id);
    await app.prisma.deployment.update({ where: { id: deployment.id }, data: change });
    return { id: deployment.id, evaluationId };
  };

  test('is continued before the evaluation, and within it', async () => {
    const before = await left({ evaluationId: null });
    await app.prisma.evaluation.delete({ where: { id: before.evaluationId } });
    expect((await decided(before.id)).status).toBe('DEPLOYED');
    const within = await left({}, 'Newer.');
    await app.prisma.evaluation.update({
      where: { id: within.evaluationId },
      data: { ownerId: 'own_dead' },
    });
    expect((await decided(within.id)).status).toBe('DEPLOYED');
  });

  test('is continued after the evaluation, which may be gone', async () => {
    const { id, evaluationId } = await left({});
    await app.prisma.evaluation.delete({ where: { id: evaluationId } });
    const gone = await decided(id);
    expect(linesOf(gone)).toEqual([
      'the evaluation of the gate no longer exists: deploy again [gate-failed]',
    ]);
  });

  test('ends with its bot', async () => {
    const { id } = await left({});
    expect((await tenant.graphql(`mutation { deleteBot(id: "${bot}") }`)).errors).toBeUndefined();
    expect(await app.prisma.deployment.count({ where: { id } })).toBe(0);
  });
});
