import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { CTRL_C, createUser, ENTER, LEFT, type User } from './terminal.ts';

let app: TestApp;
let tenant: Tenant;
let bot: string;
let user: User;
const CANARY = 'canary-7Q2x9';

const WITH_VARIABLE = agent(
  'tools shop { capability find "Find" { get "https://shop.example/" { header "Authorization" "Bearer {{ env.TOKEN }}" } } }',
);

beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  bot = await tenant.bot();
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
  const files = {
    'good.agent': agent('prompt "You are new."'),
    'bad.agent': agent('chanel web'),
    'variable.agent': WITH_VARIABLE,
    '.env': `TOKEN="${CANARY}"\n`,
    'empty.env': 'TOKEN=\nOTHER=\n',
    'latin.agent': Buffer.from('\xe9', 'latin1'),
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(user.home, name), text);
  await mkdir(join(user.home, 'bots'));
});

const deployments = async () =>
  JSON.parse((await user.parley(['deployments', '--bot', bot, '--json'])).stdout);

describe('parley deploy', () => {
  test('refuses bad input in one line, or with carets, and deploys nothing', async () => {
    const before = await deployments();
    const refused = async (line: string[], code: number, message: string, options = {}) => {
      const outcome = await user.parley(['deploy', ...line], options);
      expect(outcome).toMatchObject({ code, stdout: '' });
      expect(outcome.stderr.trimEnd().split('\n').at(-1)).toContain(`Error: ${message}`);
      return outcome.stderr;
    };
    const yes = ['--bot', bot, '--yes'];
    await refused(
      ['good.agent', '--bot', bot],
      2,
      'parley deploy asks before it changes what runs.',
    );
    await refused(['god.agent', ...yes], 1, 'god.agent does not exist. Did you mean good.agent?');
    await refused(['bots', ...yes], 1, 'bots is a directory.');
    await refused(['latin.agent', ...yes], 1, 'latin.agent is not UTF-8 text.');
    await refused(
      ['good.agent', ...yes, '--env', 'prod'],
      2,
      '--env cannot be "prod". Did you mean "production"?',
    );
    await refused(
      ['variable.agent', ...yes, '--var', 'TOKEN'],
      2,
      'TOKEN has no value. Set it in the environment',
    );
    await refused(
      ['variable.agent', ...yes, '--vars', 'empty.env'],
      1,
      'OTHER, TOKEN in empty.env: no value.',
    );
    await refused(['good.agent', ...yes, '--var', 'a b=c'], 2, '--var must be NAME=VALUE or NAME');
    await refused(['good.agent', '--yes'], 2, 'No bot is named. Add --bot ID');
    await refused(['-', '--bot', bot], 2, 'parley deploy asks before');
    await refused(
      ['good.agent', '--yes', '--bot', `${bot}x`],
      1,
      `There is no bot "${bot}x" that the key may use. Did you mean "${bot}"?`,
    );
    const shown = await refused(
      ['bad.agent', ...yes],
      1,
      'bad.agent has 1 mistake. Nothing was deployed.',
    );
    expect(shown).toContain('chanel web\n      |   ^^^^^^\n');
    const json = await user.parley(['deploy', 'bad.agent', ...yes, '--json']);
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toMatchObject({ status: 'failed', diagnostics: [{ line: 5 }] });
    expect(await deployments()).toEqual(before);
  });

  test('shows a coloured difference in a terminal, asks, and deploys after a yes', async () => {
    const before = await deployments();
    const declined = user.terminal(['deploy', 'good.agent', '--bot', bot]);
    await declined.shows('+  prompt "You are new."');
    // The colour may end in the next piece of the output.
    await declined.shows(`Deploy good.agent to ${bot} (production)?`);
    expect(declined.raw()).toContain('\x1b[31m-  prompt "You are a test."\x1b[39m');
    expect(declined.raw()).toContain('\x1b[32m+  prompt "You are new."\x1b[39m');
    declined.type(ENTER);
    expect(await declined.code()).toBe(1);
    const cancelled = user.terminal(['deploy', 'good.agent', '--bot', bot]);
    await cancelled.shows('(production)?');
    cancelled.type(CTRL_C);
    expect(await cancelled.code()).toBe(130);
    expect(await deployments()).toEqual(before);

    const accepted = user.terminal(['deploy', 'good.agent', '--bot', bot, '-m', 'From a test']);
    await accepted.shows('(production)?');
    accepted.type(LEFT + ENTER);
    expect(await accepted.code()).toBe(0);
    expect(accepted.screen()).toMatch(
      /Deployed dep_\w+ on bot_\w+ \(production\)\. Channels: none\./,
    );
    expect((await deployments())[0]).toMatchObject({ message: 'From a test', active: true });
  });

  test('never shows the value of a variable, from the line, a file, the environment or a prompt', async () => {
    const line = ['deploy', 'variable.agent', '--bot', bot, '--debug'];
    const outcomes = [
      await user.parley([...line, '--yes', '--var', `TOKEN=${CANARY}`]),
      await user.parley([...line, '--yes', '--vars', '.env', '--json']),
      await user.parley([...line, '--yes', '--var', 'TOKEN'], { env: { TOKEN: CANARY } }),
    ];
    for (const { code, stdout, stderr } of outcomes) {
      expect(code).toBe(0);
      expect(stderr).toMatch(/debug: POST http:\S+\/deploy 200, request \S+ in \d+ ms/);
      expect(stdout + stderr).not.toContain(CANARY);
      expect(stdout + stderr).not.toContain(tenant.apiKey);
    }
    const asked = user.terminal([...line, '--var', 'TOKEN']);
    await asked.shows('Value of TOKEN');
    asked.type(CANARY + ENTER);
    await asked.shows('Variables that are set: TOKEN');
    await asked.shows('(production)?');
    asked.type(LEFT + ENTER);
    expect(await asked.code()).toBe(0);
    expect(asked.raw()).not.toContain(CANARY);

    const failed = await user.parley([
      ...line,
      '--yes',
      '--var',
      `TOKEN=${CANARY}`,
      '--unset',
      'TOKEN-',
      '--message',
      'x'.repeat(1_001),
    ]);
    expect(failed.code).toBe(1);
    expect(failed.stdout + failed.stderr).not.toContain(CANARY);
  });
});

describe('staging', () => {
  test('is promoted to production, and production is rolled back from a list', async () => {
    const yes = ['--bot', bot, '--yes'];
    const nothing = await user.parley(['promote', ...yes]);
    expect(nothing).toMatchObject({ code: 1, stdout: '' });
    expect(nothing.stderr).toContain(`Nothing runs in the staging of ${bot}.`);
    const staged = await user.parley(['deploy', '-', ...yes, '-e', 'staging', '--json'], {
      stdin: agent('prompt "You are staged."'),
    });
    const { deploymentId } = JSON.parse(staged.stdout);
    const [earlier] = (await deployments()).filter(
      (one: { environment: string }) => one.environment === 'production',
    );
    expect((await user.parley(['promote', '--bot', bot])).code).toBe(2);
    const promoted = await user.parley(['promote', ...yes]);
    expect(promoted.stdout).toContain(`Promoted ${deploymentId} as dep_`);
    const wrong = await user.parley(['promote', earlier.deploymentId, ...yes]);
    expect(wrong.stderr).toContain('is no deployment to staging.');

    expect((await user.parley(['rollback', '--bot', bot])).code).toBe(2);
    const unknown = await user.parley(['rollback', 'dep_unknown', ...yes]);
    expect(unknown.stderr).toContain(`${bot} has no deployment "dep_unknown".`);
    const chosen = user.terminal(['rollback', '--bot', bot]);
    await chosen.shows('Roll back to which deployment?');
    await chosen.shows(earlier.deploymentId);
    chosen.type(ENTER);
    await chosen.shows('-  prompt "You are staged."');
    await chosen.shows('(production) back to dep_');
    chosen.type(LEFT + ENTER);
    expect(await chosen.code()).toBe(0);
    const list = await user.parley(['deployments', '--bot', bot, '--env', 'production', '-n', '1']);
    expect(list.stdout).toContain(`rollback to ${earlier.deploymentId}`);
  });
});
