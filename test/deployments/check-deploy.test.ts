import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const DIAGNOSTICS = 'diagnostics { severity code message line column endLine endColumn }';
const CHECK = `query ($botId: ID!, $input: DeployInput!) { checkDeploy(botId: $botId, input: $input) {
  deployable ${DIAGNOSTICS} setEnvNames carriedOverEnvNames removedEnvNames missingEnvNames } }`;
const DEPLOY = `mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) {
  status envNames sentEnvNames ${DIAGNOSTICS} } }`;

const check = (botId: string, input: object, caller = tenant) =>
  caller.graphql(CHECK, { botId, input });
const deploy = (botId: string, input: object) => tenant.graphql(DEPLOY, { botId, input });

/** A definition that sends variables to a host. */
const sending = (host: string, ...names: string[]) =>
  agent(`tools desk {
    capability ask "Ask" {
      get "https://${host}/" {
        ${names.map((name) => `header "${name}" "{{ env.${name} }}"`).join('\n')}
      }
    }
  }`);

/** A bot whose production has the variables TOKEN and OLD, and sends TOKEN to one.example. */
const deployedBot = async () => {
  const bot = await tenant.bot(null);
  const envVars = [
    { name: 'TOKEN', value: 'token-4711' },
    { name: 'OLD', value: 'old-4711' },
  ];
  await deploy(bot, { source: sending('one.example', 'TOKEN'), envVars });
  return bot;
};

describe('a check of a deploy', () => {
  test.each([
    ['a valid definition', { source: agent() }],
    ['a definition with errors', { source: agent('promt "Hello."') }],
    ['an empty definition', { source: '' }],
    ['a variable without a value', { source: sending('one.example', 'TOKEN', 'PLAN') }],
    ['a carried-over variable for a new server', { source: sending('two.example', 'TOKEN') }],
    [
      'a new value for a new server',
      {
        source: sending('two.example', 'TOKEN'),
        envVars: [{ name: 'TOKEN', value: 'token-4712' }],
      },
    ],
    [
      'added and removed variables',
      {
        source: sending('one.example', 'PLAN'),
        envVars: [{ name: 'PLAN', value: 'plan-4711' }],
        unsetEnvVars: ['TOKEN', 'UNKNOWN'],
      },
    ],
    [
      'another environment',
      { source: sending('one.example', 'TOKEN'), environment: 'STAGING' as const },
    ],
    ['a definition over 256 KiB', { source: '#'.repeat(256 * 1024 + 1) }],
    ['a web channel', { source: agent('channel web') }],
  ])('answers what the deploy answers: %s', async (_what, input) => {
    const bot = await deployedBot();
    const { data: checked, errors } = await check(bot, input);
    expect(errors).toBeUndefined();
    const { data: deployed } = await deploy(bot, input);
    const { deployable, diagnostics, setEnvNames, carriedOverEnvNames } = checked.checkDeploy;
    expect(diagnostics).toEqual(deployed.deploy.diagnostics);
    expect(deployable).toBe(deployed.deploy.status === 'DEPLOYED');
    if (!deployable) return;
    expect([...setEnvNames, ...carriedOverEnvNames].sort()).toEqual(deployed.deploy.envNames);
    expect(setEnvNames).toEqual(deployed.deploy.sentEnvNames);
  });

  test('names the variables that it sets, carries over, removes and lacks', async () => {
    const bot = await deployedBot();
    const { data } = await check(bot, {
      source: sending('one.example', 'TOKEN', 'PLAN', 'MISSING'),
      envVars: [{ name: 'PLAN', value: 'plan-4711' }],
      unsetEnvVars: ['OLD'],
    });
    expect(data.checkDeploy).toMatchObject({
      deployable: true,
      setEnvNames: ['PLAN'],
      carriedOverEnvNames: ['TOKEN'],
      removedEnvNames: ['OLD'],
      missingEnvNames: ['MISSING'],
    });
  });

  test('gives problems the range in the source', async () => {
    const bot = await tenant.bot();
    const source = agent('promt "Hello."');
    const { data } = await check(bot, { source });
    const [{ line, column, endLine, endColumn }] = data.checkDeploy.diagnostics;
    expect(endLine).toBe(line);
    expect(source.split('\n')[line - 1]?.slice(column - 1, endColumn - 1)).toBe('promt');
  });

  test('changes nothing', async () => {
    const bot = await deployedBot();
    const stored = () =>
      Promise.all([
        app.prisma.deployment.findMany({ where: { botId: bot } }),
        app.prisma.activeDeployment.findMany({ where: { botId: bot } }),
        app.prisma.auditEntry.count({ where: { accountId: tenant.accountId } }),
        app.prisma.idempotencyRecord.count({ where: { accountId: tenant.accountId } }),
      ]);
    const before = await stored();
    await check(bot, { source: agent(), unsetEnvVars: ['TOKEN'], idempotencyKey: 'once' });
    expect(await stored()).toEqual(before);
  });

  test('refuses what the deploy refuses, at the same field', async () => {
    const bot = await deployedBot();
    const value = 'x'.repeat(32 * 1024);
    for (const input of [
      {
        source: agent(),
        envVars: [
          { name: 'A', value },
          { name: 'B', value },
        ],
      },
      { source: agent(), envVars: [{ name: 'A', value }], unsetEnvVars: ['A'] },
    ]) {
      const [checked, deployed] = [await check(bot, input), await deploy(bot, input)];
      expect(checked.errors?.[0]?.extensions).toMatchObject({ code: 'INVALID_REQUEST' });
      expect(checked.errors?.[0]?.message).toBe(deployed.errors?.[0]?.message);
      expect(checked.errors?.[0]?.extensions.details).toEqual(
        deployed.errors?.[0]?.extensions.details,
      );
    }
  });

  test('is refused for the bot of another account', async () => {
    const bot = await deployedBot();
    const { errors } = await check(bot, { source: agent() }, await app.tenant());
    expect(errors?.[0]?.extensions.code).toBe('BOT_ACCESS_DENIED');
  });
});
