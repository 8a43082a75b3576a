import { beforeAll, describe, expect, test } from 'vitest';
import { readSource } from '../../src/language/read.ts';
import { agent, startApp, type Tenant, type TestApp, testCipher } from '../helpers/app.ts';
import { createTestDeploy } from '../helpers/deploy.ts';
import { streamChat } from '../helpers/stream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const FIELDS = `id status environment message active channels envNames deployedAt endedAt
  diagnostics { severity code message line column } rolledBackTo { id } bot { id }`;

type Deployment = {
  id: string;
  status: string;
  active: boolean;
  envNames: string[];
  diagnostics: { severity: string; code: string; line: number; column: number }[];
};

const run = async (caller: Tenant, query: string, variables: object) => {
  const { data, errors } = await caller.graphql(query, variables);
  if (errors) throw Object.assign(new Error(errors[0]?.message), errors[0]?.extensions);
  return Object.values(data)[0] as Deployment;
};

const deploy = (botId: string, input: object, caller = tenant) =>
  run(
    caller,
    `mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { ${FIELDS} } }`,
    { botId, input },
  );

const again =
  (field: 'rollback' | 'promote') =>
  (botId: string, deploymentId: string, caller = tenant) =>
    run(
      caller,
      `mutation ($botId: ID!, $deploymentId: ID!) { ${field}(botId: $botId, deploymentId: $deploymentId) { ${FIELDS} } }`,
      { botId, deploymentId },
    );
const rollback = again('rollback');
const promote = again('promote');

/** The prompt of the active definition, as the model receives it. */
const promptOf = async (botId: string, environment = 'production') => {
  const response = await tenant.chat(botId, { message: 'Hi', environment });
  expect(response.status).toBe(200);
  return app.upstream.requests.at(-1)?.body.messages[0]?.content;
};

/** The decrypted variables of a deployment. */
const variablesOf = async (deploymentId: string) => {
  const { envVars } = await app.prisma.deployment.findUniqueOrThrow({
    where: { id: deploymentId },
  });
  return envVars && testCipher.decrypt(deploymentId, envVars);
};

const definitionWith = (text: string) => agent(`prompt "${text}"`);

describe('a deploy', () => {
  test('is active from the next request on', async () => {
    const bot = await tenant.bot(null);
    for (const text of ['One.', 'Two.']) {
      const deployment = await deploy(bot, {
        source: definitionWith(text),
        message: `Say ${text}`,
      });
      expect(deployment).toEqual({
        id: expect.stringMatching(/^dep_/),
        status: 'DEPLOYED',
        environment: 'PRODUCTION',
        message: `Say ${text}`,
        active: true,
        channels: [],
        envNames: [],
        diagnostics: [],
        deployedAt: expect.stringMatching(/Z$/),
        endedAt: expect.stringMatching(/Z$/),
        rolledBackTo: null,
        bot: { id: bot },
      });
      expect(await promptOf(bot)).toBe(text);
    }
  });

  test('of a source with errors changes nothing, and reports every error with its position', async () => {
    const bot = await tenant.bot('prompt "As before."');
    const failed = await deploy(bot, {
      source:
        'agentlang 5\nagent "A" {\n  prompt "x"\n  model "m" { temprature 0.2 }\n  histroy none\n}\n',
      envVars: [{ name: 'TOKEN', value: 'x' }],
    });
    expect(failed).toMatchObject({ status: 'FAILED', active: false, channels: [], envNames: [] });
    expect(failed).toMatchObject({ deployedAt: null, endedAt: expect.stringMatching(/Z$/) });
    const errors = failed.diagnostics.filter(({ severity }) => severity === 'ERROR');
    expect(errors.map(({ code, line, column }) => [code, line, column])).toEqual([
      ['unknown-setting', 4, 15],
      ['unknown-setting', 5, 3],
    ]);
    expect(await variablesOf(failed.id)).toBeNull();
    expect(await promptOf(bot)).toBe('As before.');
  });

  test('reports connected channels, and warns about unavailable ones', async () => {
    const bot = await tenant.bot(null);
    const deployment = await deploy(bot, {
      source: agent('channel web\n  channel telegram { token env.TELEGRAM_TOKEN }'),
      envVars: [{ name: 'TELEGRAM_TOKEN', value: 'x' }],
    });
    expect(deployment).toMatchObject({ status: 'DEPLOYED', channels: ['WEB'] });
    expect(deployment.diagnostics).toMatchObject([
      { severity: 'WARNING', code: 'channel-unavailable' },
    ]);
  });

  test('keeps staging and production separate', async () => {
    const bot = await tenant.bot('prompt "Production."');
    await deploy(bot, { source: definitionWith('Staging.'), environment: 'STAGING' });
    expect(await promptOf(bot)).toBe('Production.');
    expect(await promptOf(bot, 'staging')).toBe('Staging.');
  });

  test('does not affect an active chat, and every run has its own deployment', async () => {
    const bot = await tenant.bot('prompt "Old."');
    const finish = Promise.withResolvers<void>();
    app.upstream.script(async ({ say, end }) => {
      say('Half');
      await finish.promise;
      end();
    });
    const running = tenant.chat(bot, { message: 'Hi' });
    await expect.poll(() => app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('Old.');
    const { id } = await deploy(bot, { source: definitionWith('New.') });
    app.upstream.script(({ end }) => end());
    expect(await promptOf(bot)).toBe('New.');
    finish.resolve();
    const old = (await (await running).json()) as { run_id: string };
    const { data } = await tenant.graphql(
      'query ($id: ID!) { run(id: $id) { deployment { id active source } } }',
      { id: old.run_id },
    );
    expect(data.run.deployment).toMatchObject({ active: false, source: definitionWith('Old.') });
    expect(data.run.deployment.id).not.toBe(id);
  });

  test('that throws leaves the active deployment unchanged and creates no entry', async () => {
    const bot = await tenant.bot('prompt "Safe."');
    const broken = createTestDeploy({
      prisma: app.prisma,
      cipher: {
        ...testCipher,
        encrypt: () => {
          throw new Error('out of entropy');
        },
      },
    });
    const request = {
      botId: bot,
      environment: 'PRODUCTION' as const,
      envVars: {},
      unsetEnvVars: [],
    };
    await expect(
      broken({ action: 'DEPLOY', ...request, source: definitionWith('Half.') }),
    ).rejects.toThrow('entropy');
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(1);
    expect(await promptOf(bot)).toBe('Safe.');
  });

  test('that is sent twenty times at the same time creates twenty entries, the last of which is active', async () => {
    const bot = await tenant.bot(null);
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, number) =>
        deploy(bot, {
          source: definitionWith(`Number ${number}.`),
          envVars: [{ name: `V${number}`, value: String(number) }],
        }),
      ),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(20);
    const { data } = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { activeDeployment { id source envNames } deployments(first: 50) { edges { node { id active status } } } } }',
      { id: bot },
    );
    const { activeDeployment, deployments } = data.bot;
    const nodes = deployments.edges.map(({ node }: { node: Deployment }) => node);
    expect(nodes).toHaveLength(20);
    expect(nodes.filter(({ active }: Deployment) => active)).toEqual([
      { id: activeDeployment.id, active: true, status: 'DEPLOYED' },
    ]);
    // Each deployment carried over the variables of the previous one, so the active one has them all.
    expect(activeDeployment.envNames).toHaveLength(20);
    expect(definitionWith((await promptOf(bot)) ?? '')).toBe(activeDeployment.source);
    const active = await app.prisma.activeDeployment.findMany({ where: { botId: bot } });
    expect(active).toMatchObject([{ deploymentId: activeDeployment.id, version: 20 }]);
  });

  test('requires the scope DEPLOY, as does reading a source', async () => {
    const bot = await tenant.bot();
    const chatting = await tenant.key({ scopes: ['CHAT', 'RUNS', 'ADMIN'] });
    const request = (query: string) => app.graphql(chatting, query);
    for (const query of [
      `mutation { deploy(botId: "${bot}", input: { source: "" }) { id } }`,
      `mutation { rollback(botId: "${bot}", deploymentId: "x") { id } }`,
      `mutation { promote(botId: "${bot}", deploymentId: "x") { id } }`,
      `{ bot(id: "${bot}") { activeDeployment { source } } }`,
    ]) {
      expect((await request(query)).errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
    }
    expect(
      (await request(`{ bot(id: "${bot}") { activeDeployment { id envNames } } }`)).errors,
    ).toBeUndefined();
  });
});

describe('the source of a deployment', () => {
  test('is parsed once by a deploy, a promotion and a rollback, before their transaction', async () => {
    const { prisma } = app;
    const botId = await tenant.bot(null);
    const sources: string[] = [];
    const deployNow = createTestDeploy({
      prisma,
      cipher: testCipher,
      read: async (source) => {
        sources.push(source);
        return readSource(source);
      },
    });
    const source = definitionWith('{{ context.a }}');
    const { id } = await deployNow({
      action: 'DEPLOY',
      botId,
      environment: 'STAGING',
      source,
      envVars: { UNUSED: 'a value' },
      unsetEnvVars: [],
    });
    await deployNow({ action: 'PROMOTE', botId, deploymentId: id });
    await deployNow({ action: 'ROLLBACK', botId, deploymentId: id });
    expect(sources).toEqual([source, source, source]);
    const { diagnostics } = await prisma.deployment.findUniqueOrThrow({ where: { id } });
    expect(diagnostics).toMatchObject([{ code: 'env-unused' }]);
  });
});

describe('the variables of a bot', () => {
  test('are carried over, overridden and deleted, as a whole set for each deployment', async () => {
    const bot = await tenant.bot(null);
    const source = agent();
    const one = await deploy(bot, {
      source,
      envVars: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
    });
    const two = await deploy(bot, { source, envVars: [{ name: 'B', value: '3' }] });
    const three = await deploy(bot, { source, unsetEnvVars: ['A', 'NEVER_SET'] });
    expect(await variablesOf(one.id)).toEqual({ A: '1', B: '2' });
    expect(await variablesOf(two.id)).toEqual({ A: '1', B: '3' });
    expect(await variablesOf(three.id)).toEqual({ B: '3' });
    expect([one, two, three].map(({ envNames }) => envNames)).toEqual([
      ['A', 'B'],
      ['A', 'B'],
      ['B'],
    ]);
  });

  test('are not carried over from a failed deployment or the other environment', async () => {
    const bot = await tenant.bot(null);
    await deploy(bot, { source: agent(), envVars: [{ name: 'A', value: '1' }] });
    await deploy(bot, { source: 'broken', envVars: [{ name: 'B', value: '2' }] });
    expect((await deploy(bot, { source: agent() })).envNames).toEqual(['A']);
    expect((await deploy(bot, { source: agent(), environment: 'STAGING' })).envNames).toEqual([]);
  });

  test('are redacted in replies, streams and runs, even if the model returns them', async () => {
    const value = 'hunter2-hunter2';
    const bot = await tenant.bot(null);
    await deploy(bot, { source: agent(), envVars: [{ name: 'PASSWORD', value }] });
    app.upstream.script(({ say, end }) => {
      for (const piece of ['It is hun', 'ter2-hunt', 'er2, or ', btoa(value), '. hunt']) say(piece);
      end();
    });
    const text = 'It is [env.PASSWORD], or [env.PASSWORD]. hunt';
    const reply = (await (await tenant.chat(bot, { message: 'Hi' })).json()) as Record<
      string,
      string
    >;
    expect(reply.response).toBe(text);
    const { response } = await app.prisma.run.findUniqueOrThrow({ where: { id: reply.run_id } });
    expect(response).toBe(text);
    const events = await streamChat(app, tenant, bot, { message: 'Hi' });
    expect(events.map(({ delta }) => delta ?? '').join('')).toBe(text);
    app.upstream.script(({ end }) => end());
  });

  test('cause a warning if they are used but not set, or set but not used', async () => {
    const bot = await tenant.bot(null);
    const source = agent(
      'tools shop { capability find "Find" { get "https://shop.example/" { header "Authorization" "Bearer {{ env.SHOP_KEY }}" } } }',
    );
    const codes = async (input: object) =>
      (await deploy(bot, { source, ...input })).diagnostics.map(({ code }) => code);
    expect(await codes({})).toEqual(['env-unset']);
    expect(
      await codes({
        envVars: [
          { name: 'SHOP_KEY', value: 'x' },
          { name: 'OTHER', value: 'y' },
        ],
      }),
    ).toEqual(['env-unused']);
    expect(await codes({ unsetEnvVars: ['OTHER'] })).toEqual([]);
  });

  test.each([
    [{ envVars: [{ name: '1A', value: 'x' }] }, ['input.envVars.0.name']],
    [
      {
        envVars: [
          { name: 'A-B', value: 'x' },
          { name: '', value: 'x' },
        ],
      },
      ['input.envVars.0.name', 'input.envVars.1.name'],
    ],
    [{ envVars: [{ name: 'A', value: 'x'.repeat(32 * 1024 + 1) }] }, ['input.envVars.0.value']],
    [{ envVars: [{ name: 'A', value: '\u0000' }] }, ['input.envVars.0.value']],
    [
      {
        envVars: [
          { name: 'A', value: 'x' },
          { name: 'A', value: 'y' },
        ],
      },
      ['input'],
    ],
    [{ envVars: [{ name: 'A', value: 'x' }], unsetEnvVars: ['A'] }, ['input']],
    [
      { envVars: Array.from({ length: 201 }, (_, number) => ({ name: `V${number}`, value: '' })) },
      ['input.envVars'],
    ],
    [{ unsetEnvVars: ['a b'] }, ['input.unsetEnvVars.0']],
    [{ message: 'x'.repeat(1_001) }, ['input.message']],
    [{ source: 'agentlang 5\u0000' }, ['input.source']],
  ])('are refused if invalid: %.60j', async (input, paths) => {
    const bot = await tenant.bot(null);
    const { errors } = await tenant.graphql(
      'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
      { botId: bot, input: { source: agent(), ...input } },
    );
    expect(errors?.[0]?.extensions.code).toBe('INVALID_REQUEST');
    const details = errors?.[0]?.extensions.details as { path: string; message: string }[];
    expect(details.map(({ path }) => path)).toEqual(paths);
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(0);
  });

  test('may have up to 32 KiB', async () => {
    const bot = await tenant.bot(null);
    const value = 'é'.repeat(16 * 1024);
    const { id } = await deploy(bot, { source: agent(), envVars: [{ name: 'A', value }] });
    expect(await variablesOf(id)).toEqual({ A: value });
  });
});

describe('the variables of a deployment', () => {
  const large = (name: string, size = 32 * 1024) => ({ name, value: 'x'.repeat(size) });
  const refused = (botId: string, input: object) =>
    tenant.graphql(
      'mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { id } }',
      { botId, input: { source: agent(), ...input } },
    );

  test('have at most 64 KiB together, including carried-over ones', async () => {
    const bot = await tenant.bot(null);
    const source = agent();
    await deploy(bot, { source, envVars: [large('A'), large('B')] });
    const { errors } = await refused(bot, { envVars: [large('C', 1)] });
    const message = 'must not exceed 64 KiB, together with those carried over';
    expect(errors?.[0]).toMatchObject({
      message: `The variables ${message}.`,
      extensions: { code: 'INVALID_REQUEST', details: [{ path: 'input.envVars', message }] },
    });
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(1);
    await deploy(bot, { source, envVars: [large('C', 1)], unsetEnvVars: ['A'] });
    const again = await refused(bot, { envVars: [large('A'), large('D')] });
    expect(again.errors?.[0]?.extensions.details).toEqual([{ path: 'input.envVars', message }]);
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(response.status).toBe(200);
  });

  test('are at most 200, including carried-over ones', async () => {
    const bot = await tenant.bot(null);
    const many = (prefix: string, count: number) =>
      Array.from({ length: count }, (_, index) => ({ name: `${prefix}${index}`, value: '' }));
    await deploy(bot, { source: agent(), envVars: many('A', 200) });
    const { errors } = await refused(bot, { envVars: many('B', 1) });
    expect(errors?.[0]?.extensions.details).toEqual([
      {
        path: 'input.envVars',
        message: 'must not be more than 200, together with those carried over',
      },
    ]);
    expect((await deploy(bot, { source: agent(), envVars: many('A', 200) })).status).toBe(
      'DEPLOYED',
    );
  });

  test('may be large and have any characters without breaking chats', async () => {
    const bot = await tenant.bot(null);
    const signs = '(?<a>[^]*+{9,}$\\\n\u2028ключ 🔑|'.repeat(700);
    await deploy(bot, {
      source: agent(),
      envVars: [
        { name: 'SIGNS', value: signs },
        { name: 'REPEATED', value: 'a'.repeat(32 * 1024) },
      ],
    });
    app.upstream.script(({ say, end }) => {
      for (const piece of ['It is ', signs.slice(0, 9_000), signs.slice(9_000), '!']) say(piece);
      end();
    });
    const response = await tenant.chat(bot, { message: 'Hi' });
    expect(await response.json()).toMatchObject({ response: 'It is [env.SIGNS]!' });
    app.upstream.script(({ end }) => end());
  });
});

describe('a rollback', () => {
  test('creates a new deployment with the source and the variables of the old one', async () => {
    const bot = await tenant.bot(null);
    const one = await deploy(bot, {
      source: definitionWith('One.'),
      envVars: [{ name: 'A', value: '1' }],
    });
    await deploy(bot, {
      source: definitionWith('Two.'),
      envVars: [
        { name: 'A', value: '2' },
        { name: 'B', value: '3' },
      ],
    });
    const back = await rollback(bot, one.id);
    expect(back).toMatchObject({ status: 'DEPLOYED', active: true, rolledBackTo: { id: one.id } });
    expect(back.id).not.toBe(one.id);
    expect(await variablesOf(back.id)).toEqual({ A: '1' });
    expect(await promptOf(bot)).toBe('One.');
    // The next deployment carries over the variables that the rollback restored.
    expect((await deploy(bot, { source: definitionWith('Three.') })).envNames).toEqual(['A']);
  });

  test('to the active deployment is allowed, and creates a new entry', async () => {
    const bot = await tenant.bot(null);
    const { id } = await deploy(bot, { source: agent() });
    expect((await rollback(bot, id)).id).not.toBe(id);
    expect(await app.prisma.deployment.count({ where: { botId: bot } })).toBe(2);
  });

  test('stays in the environment of its target', async () => {
    const bot = await tenant.bot('prompt "Production."');
    const staged = await deploy(bot, {
      source: definitionWith('Staging.'),
      environment: 'STAGING',
    });
    await deploy(bot, { source: definitionWith('Worse.'), environment: 'STAGING' });
    expect(await rollback(bot, staged.id)).toMatchObject({ environment: 'STAGING' });
    expect(await promptOf(bot, 'staging')).toBe('Staging.');
    expect(await promptOf(bot)).toBe('Production.');
  });

  test('is refused for failed, unknown and other bots’ deployments', async () => {
    const bot = await tenant.bot(null);
    const failed = await deploy(bot, { source: 'broken' });
    const other = await deploy(await tenant.bot(null), { source: agent() });
    const refused = (code: string) => expect.objectContaining({ code });
    await expect(rollback(bot, failed.id)).rejects.toEqual(refused('DEPLOYMENT_NOT_DEPLOYABLE'));
    await expect(rollback(bot, 'dep_none')).rejects.toEqual(refused('DEPLOYMENT_NOT_FOUND'));
    await expect(rollback(bot, other.id)).rejects.toEqual(refused('DEPLOYMENT_NOT_FOUND'));
    await expect(rollback(bot, '\u0000')).rejects.toEqual(refused('INVALID_REQUEST'));
  });
});

describe('a promotion', () => {
  test('runs staging’s source in production, with production’s variables', async () => {
    const bot = await tenant.bot(null);
    await deploy(bot, {
      source: definitionWith('Old.'),
      envVars: [{ name: 'KEY', value: 'production' }],
    });
    const staged = await deploy(bot, {
      source: definitionWith('New.'),
      environment: 'STAGING',
      envVars: [
        { name: 'KEY', value: 'staging' },
        { name: 'DEBUG', value: '1' },
      ],
    });
    const promoted = await promote(bot, staged.id);
    expect(promoted).toMatchObject({ environment: 'PRODUCTION', active: true, rolledBackTo: null });
    expect(await variablesOf(promoted.id)).toEqual({ KEY: 'production' });
    expect(await promptOf(bot)).toBe('New.');
    expect(await promptOf(bot, 'staging')).toBe('New.');
  });

  test('is refused for deployments of production and failed ones', async () => {
    const bot = await tenant.bot(null);
    const { id } = await deploy(bot, { source: agent() });
    const failed = await deploy(bot, { source: 'broken', environment: 'STAGING' });
    const refused = expect.objectContaining({ code: 'DEPLOYMENT_NOT_DEPLOYABLE' });
    await expect(promote(bot, id)).rejects.toEqual(refused);
    await expect(promote(bot, failed.id)).rejects.toEqual(refused);
  });
});

describe('the deployments of a bot', () => {
  test('are listed newest first, by environment and status, and are nodes of their account', async () => {
    const bot = await tenant.bot(null);
    const one = await deploy(bot, { source: agent() });
    const two = await deploy(bot, { source: 'broken' });
    const three = await deploy(bot, { source: agent(), environment: 'STAGING' });
    const list = async (filter: string) => {
      const { data } = await tenant.graphql(
        `query ($id: ID!) { bot(id: $id) { deployments${filter} { edges { node { id } } } } }`,
        { id: bot },
      );
      return data.bot.deployments.edges.map(({ node }: { node: Deployment }) => node.id);
    };
    expect(await list('')).toEqual([three.id, two.id, one.id]);
    expect(await list('(environment: PRODUCTION)')).toEqual([two.id, one.id]);
    expect(await list('(environment: PRODUCTION, status: DEPLOYED)')).toEqual([one.id]);

    const { data } = await tenant.graphql(
      'query ($id: ID!) { bot(id: $id) { production: activeDeployment { id } staging: activeDeployment(environment: STAGING) { id } } }',
      { id: bot },
    );
    expect(data.bot).toEqual({ production: { id: one.id }, staging: { id: three.id } });

    const node = (caller: Tenant) =>
      caller.graphql('query ($id: ID!) { node(id: $id) { ... on Deployment { status } } }', {
        id: one.id,
      });
    expect((await node(tenant)).data).toEqual({ node: { status: 'DEPLOYED' } });
    expect((await node(await app.tenant())).data).toEqual({ node: null });
  });
});

describe('checkDefinition', () => {
  const check = async (source: string, envNames?: string[]) => {
    const { data } = await tenant.graphql(
      `query ($source: String!, $envNames: [String!]) {
        checkDefinition(source: $source, envNames: $envNames) {
          valid envNames tools channels formatted diagnostics { severity code line column endLine endColumn }
        }
      }`,
      { source, envNames },
    );
    return data.checkDefinition;
  };

  test('returns a full report on a definition, and deploys nothing', async () => {
    const before = await app.prisma.deployment.count();
    const source = agent('tools time\n  channel web\n  channel telegram { token env.T }');
    expect(await check(source, [])).toEqual({
      valid: true,
      envNames: ['T'],
      tools: ['time.now'],
      channels: ['WEB', 'TELEGRAM'],
      formatted: expect.stringContaining('agent "Test" {'),
      diagnostics: [
        {
          severity: 'WARNING',
          code: 'env-unset',
          line: 7,
          column: 32,
          endLine: 7,
          endColumn: 33,
        },
      ],
    });
    expect((await check(source)).diagnostics).toEqual([]);
    expect(await app.prisma.deployment.count()).toBe(before);
  });

  test('warns of plain HTTP, and of private addresses that the operator does not allow', async () => {
    const own = await startApp({ allowedHosts: ['127.0.0.1:8080'] });
    const owner = await own.tenant();
    const report = async (url: string) => {
      const source = agent(`tools far mcp "${url}"`);
      const { data } = await owner.graphql(
        'query ($source: String!) { checkDefinition(source: $source) { valid diagnostics { code } } }',
        { source },
      );
      return data.checkDefinition;
    };
    const warned = (code: string) => ({ valid: true, diagnostics: [{ code }] });
    expect(await report('http://127.0.0.1:8080/mcp')).toEqual({ valid: true, diagnostics: [] });
    expect(await report('http://127.0.0.1:8081/mcp')).toEqual(warned('private-host'));
    expect(await report('https://192.168.0.1/mcp')).toEqual(warned('private-host'));
    expect(await report('http://shop.example:8080/mcp')).toEqual(warned('plain-http'));
  });

  test('reports every error of an invalid definition', async () => {
    const report = await check('agentlang 4');
    expect(report).toMatchObject({ valid: false, tools: [], channels: [] });
    expect(report.diagnostics[0]).toEqual({
      severity: 'ERROR',
      code: 'unsupported-version',
      line: 1,
      column: 11,
      endLine: 1,
      endColumn: 12,
    });
  });

  test('refuses a list of over 200 variables without validating each', async () => {
    const envNames = Array.from({ length: 999 }, () => 'no name');
    const { errors } = await tenant.graphql(
      'query ($envNames: [String!]) { checkDefinition(source: "", envNames: $envNames) { valid } }',
      { envNames },
    );
    expect(errors).toMatchObject([
      { message: expect.stringContaining('must not have more than 200 items') },
    ]);
    expect(JSON.stringify(errors).length).toBeLessThan(2_000);
    const { errors: others } = await tenant.graphql(
      'query ($envNames: [String!]) { checkDefinition(source: "", envNames: $envNames) { valid } }',
      { envNames: ['GOOD', 'not good'] },
    );
    expect(others?.[0]?.extensions.details).toEqual([
      { path: 'envNames.1', message: expect.stringContaining('must be a name') },
    ]);
  });
});
