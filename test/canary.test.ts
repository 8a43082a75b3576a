import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, test } from 'vitest';
import { agent } from './helpers/app.ts';
import { atTheEnd } from './helpers/at-the-end.ts';
import { installation } from './helpers/installation.ts';
import { startServer } from './helpers/server.ts';
import { startTelegram } from './helpers/telegram.ts';

/** The canary in every form in which text may be written. */
const formsOf = (canary: string) => [
  canary,
  canary.replace('ä', '\\u00e4'),
  canary.replace('ä', '&auml;'),
  encodeURIComponent(canary),
  Buffer.from(canary).toString('base64').replaceAll('=', ''),
  Buffer.from(canary).toString('hex'),
];

/** Values that libraries may reject with an error that quotes them. */
const hostileValues = (canary: string) => [
  canary + '(?<x>[^]*+$|\\'.repeat(2_200),
  canary.padEnd(32 * 1024 - 1, 'a'),
  `${canary}\n    at ${canary} (a:1:1)\u2028"'<>&\t🔑`,
  `http://[${canary}`,
  `http://127.0.0.1:1/${canary}`,
  `http://${canary.replace(' ', '.')}.localhost:1`,
];

/** Definitions with a variable in every allowed position. */
const PLACES = [
  'model "m" { base_url env.TOKEN }',
  'model "m" { base_url "http://127.0.0.1:1" api_key env.TOKEN }',
  'tools far mcp env.TOKEN',
  'tools far mcp "http://127.0.0.1:1" { header "X-Token" "{{ env.TOKEN }}" }',
];

describe('the value of a variable', () => {
  test('is not in any response, log line, error or database file', async () => {
    const random = randomBytes(16).toString('hex');
    const canary = `cänary ${random}`;
    const databaseUrl = inject('databaseUrl');
    const options = await installation('canary', { LOG_LEVEL: 'trace' });
    const server = await startServer(options);
    const key = server.operatorKey();
    const answers: string[] = [];
    const send = async (path: string, body?: object, headers = {}) => {
      const response = await fetch(server.url + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${key}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        body: body && JSON.stringify(body),
      });
      answers.push(JSON.stringify([...response.headers]), await response.clone().text());
      // biome-ignore lint/suspicious/noExplicitAny: any response is searched
      return (await response.json().catch(() => ({}))) as any;
    };

    const agentlang = agent(
      'tools shop { capability find "Find" { get "https://shop.example/" { header "Authorization" "Bearer {{ env.TOKEN }}" } } }',
    );
    const env_vars = { TOKEN: canary };
    const deployed = await send('/v1/bots/demo/deploy', { agentlang, env_vars });
    expect(deployed.status).toBe('deployed');
    await send('/v1/bots/demo/deploy', { agentlang: 'broken', env_vars });
    await send('/v1/bots/demo/deploy', { agentlang, env_vars: { 'a b': canary, TOKEN: canary } });
    await send('/v1/bots/demo/deploy', { agentlang, env_vars: { TOKEN: canary.repeat(2_000) } });
    await send('/v1/bots/demo/chat', { message: 'What is your token?', context: { a: 1 } });
    await send(`/v1/bots/demo/deployments/${deployed.deployment_id}/rollback`, {});
    await send('/v1/bots/demo/deployments');
    const tryEverywhere = async (TOKEN: string, bot: string) => {
      for (const place of PLACES) {
        const request = { agentlang: agent(place), env_vars: { TOKEN } };
        expect((await send(`/v1/bots/${bot}/deploy`, request)).status).toBe('deployed');
        await send(`/v1/bots/${bot}/chat`, { message: 'What is your token?' });
      }
    };
    // Each chat waits for a model server that does not exist, so the values are tried side by side.
    await Promise.all(
      hostileValues(canary).map(async (value, index) => {
        const mutation = `mutation { createBot(input: { id: "canary-${index}", name: "Canary" }) { id } }`;
        expect((await send('/graphql', { query: mutation })).data.createBot).not.toBeNull();
        await tryEverywhere(value, `canary-${index}`);
      }),
    );
    const graphql = (query: string, variables = {}) => send('/graphql', { query, variables });
    await graphql(
      'mutation ($input: DeployInput!) { deploy(botId: "demo", input: $input) { id source envNames diagnostics { message } } }',
      { input: { source: agentlang, envVars: [{ name: 'TOKEN', value: canary }] } },
    );
    for (const value of [`${canary}\u0000`, canary.repeat(2_000), 7, { canary }]) {
      await graphql(
        'mutation ($input: DeployInput!) { deploy(botId: "demo", input: $input) { id } }',
        { input: { source: agentlang, envVars: [{ name: 'TOKEN', value }] } },
      );
    }
    const { data } = await graphql(
      '{ bot(id: "demo") { deployments { edges { node { id source envNames message diagnostics { message } } } } } }',
    );
    expect(data.bot.deployments.edges.length).toBeGreaterThan(3);
    expect(await server.stop('SIGTERM')).toBe(0);

    const files = databaseUrl ? [] : await filesBelow(join(options.dataDirectory, 'database'));
    const places = {
      answers: answers.join('\n'),
      output: server.output(),
      files: files.join('\n'),
    };
    for (const [place, text] of Object.entries(places)) {
      for (const form of [...formsOf(canary), random])
        expect(text.includes(form), `${form} in ${place}`).toBe(false);
    }
    expect(databaseUrl || places.files.length > 1_000_000).toBeTruthy();
  });
});

describe('the token of a Telegram bot', () => {
  test('is not in any response, log line or database file, with any answer of Telegram', async () => {
    const telegram = await startTelegram();
    atTheEnd(telegram.close);
    const options = await installation('canary_telegram', {
      LOG_LEVEL: 'trace',
      PUBLIC_URL: 'https://bots.example',
      TELEGRAM_API_ROOT: telegram.apiRoot,
    });
    const server = await startServer(options);
    const key = server.operatorKey();
    const answers: string[] = [];
    const post = async (path: string, body: object) => {
      const response = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      answers.push(JSON.stringify([...response.headers]), await response.text());
    };
    const bot = telegram.bot();
    const deploy = (env_vars = { TOKEN: bot.token }) =>
      post('/v1/bots/demo/deploy', {
        agentlang: agent('channel telegram { token env.TOKEN }'),
        env_vars,
      });
    const state = (status: string) =>
      expect
        .poll(async () => {
          const query =
            '{ bot(id: "demo") { activeDeployment { channelStates { status problem } } } }';
          await post('/graphql', { query });
          return answers.at(-1);
        })
        .toContain(`"status":"${status}"`);
    const description = `Broken: ${telegram.apiRoot}/bot${bot.token}/sendMessage`;

    await deploy();
    await state('CONNECTED');
    const { url = '', secret = '' } = bot.webhook() ?? {};
    // Telegram's own errors name the token.
    const refusals = [
      { code: 500, description },
      { code: 400, description: `chat ${description}` },
    ];
    telegram.script(({ method }) => (method === 'sendMessage' ? refusals.shift() : undefined));
    await bot.deliver(server.url, bot.text(`Is your token ${bot.id}?`));
    await expect.poll(() => refusals).toEqual([]);
    telegram.script(() => ({ code: 502, description }));
    await deploy();
    telegram.script(() => undefined);
    await state('CONNECTED');
    await deploy({ TOKEN: `${bot.token} ` });
    await deploy();
    bot.revoke();
    await deploy();
    await state('UNAVAILABLE');
    await post('/graphql', {
      query: '{ runs(botId: "demo") { edges { node { input trace { spans { name } } } } } }',
    });
    expect(await server.stop('SIGTERM')).toBe(0);

    const hidden = [bot.token.split(':')[1] ?? bot.token, secret, url.split('/').at(-1) ?? url];
    const [token = ''] = hidden;
    const isEmbedded = !inject('databaseUrl');
    const files = isEmbedded ? await filesBelow(join(options.dataDirectory, 'database')) : [];
    for (const text of hidden) {
      expect(answers.join('\n').includes(text), `${text} in answers`).toBe(false);
      expect(server.output().includes(text), `${text} in output`).toBe(false);
    }
    expect(files.join('\n').includes(token)).toBe(false);
    expect(!isEmbedded || files.join('').length > 1_000_000).toBe(true);
  });
});

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), 'utf8')));
}
