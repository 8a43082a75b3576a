import { once } from 'node:events';
import type { AttackContext, Attacks } from '../attack.ts';
import { botPath, json, mcpHeaders } from '../attack.ts';
import { MODEL_BEHAVIOURS, TOOL_BEHAVIOURS } from '../upstream.ts';

/** Begins a run by one of the entrances; the hostile model serves it with a given behaviour. */
async function run(
  { sendWithKey, random }: AttackContext,
  bot: string,
  message: string,
  more: Record<string, unknown> = {},
) {
  const isStreamed = random.pick([false, true]);
  const call = { name: bot, arguments: { message, ...more }, _meta: { progressToken: 1 } };
  const [path, body] = random.pick<[path: string, body: object]>([
    [botPath(bot, 'chat'), { message, stream: isStreamed, ...more }],
    [botPath(bot, 'execute'), { prompt: message, ...more }],
    [botPath(bot, 'execute'), { prompt: message, background: true, ...more }],
    [
      '/v1/chat/completions',
      { model: bot, messages: [{ role: 'user', content: message }], stream: isStreamed, ...more },
    ],
    ['/v1/responses', { model: bot, input: message, stream: isStreamed, ...more }],
    ['/v1/responses', { model: bot, input: message, background: true, ...more }],
    ['/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }],
  ]);
  return sendWithKey({
    method: 'POST',
    path,
    headers: {
      ...(isStreamed || path === '/mcp' ? mcpHeaders : json),
      'x-session-id': `session-${random.int(1, 20)}`,
    },
    body,
  });
}

const modelAttacks: Attacks = Object.fromEntries(
  MODEL_BEHAVIOURS.map((behaviour) => [
    `model: ${behaviour}`,
    (context: AttackContext) =>
      run(
        context,
        context.random.pick([context.account.modelBot, context.account.mcpBot]),
        behaviour,
      ),
  ]),
);

const toolAttacks: Attacks = Object.fromEntries(
  TOOL_BEHAVIOURS.map((behaviour) => [
    `tool: ${behaviour}`,
    (context: AttackContext) => run(context, context.account.modelBot, `call ${behaviour}`),
  ]),
);

/** Runs of hostile definitions. */
export const runAttacks: Attacks = {
  ...modelAttacks,
  ...toolAttacks,
  'MCP servers': (context) => run(context, context.account.mcpBot, 'Hello'),
  'templates of a large context': (context) =>
    run(context, context.account.templateBot, 'Hello', {
      context: { text: 'x'.repeat(context.random.int(1_000, 1_000_000)) },
    }),
  'background runs that hang': async (context) => {
    for (let count = 10; count > 0; count -= 1) {
      await context.sendWithKey({
        method: 'POST',
        path: botPath(context.account.modelBot, 'execute'),
        headers: json,
        body: { prompt: 'hang', background: true },
      });
    }
  },
  'long messages in one session': (context) =>
    run(context, context.account.templateBot, 'y'.repeat(context.random.int(1e5, 1e6))),
  'unread streams': async ({ account, connect, pause, random }) => {
    const body = JSON.stringify({ message: 'tiny deltas', stream: true });
    const socket = connect().pause();
    socket.write(
      `POST ${botPath(account.modelBot, 'chat')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${account.apiKey}\r\n` +
        `Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await pause(random.int(500, 5_000));
  },
  'streams that are closed at once': async ({ account, connect }) => {
    const body = JSON.stringify({ message: 'hang', stream: true });
    const socket = connect();
    socket.write(
      `POST ${botPath(account.modelBot, 'chat')} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${account.apiKey}\r\n` +
        `Accept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      () => socket.destroy(),
    );
    await once(socket, 'close');
  },
  'large memory values': ({ graphql, account, random }) =>
    graphql(
      `mutation ($value: String!) { setMemory(botId: "${account.templateBot}", sessionId: "session-1", name: "name", value: $value) { memory { name } } }`,
      { value: 'z'.repeat(random.int(1, 1_000_000)) },
    ),
  'idempotency keys of other tenants': (context) =>
    context.sendWithKey({
      method: 'POST',
      path: botPath(context.account.modelBot, 'execute'),
      headers: { ...json, 'idempotency-key': `honest-${context.random.int(1, 100)}` },
      body: { prompt: 'Hello' },
    }),
  "another tenant's data": async ({ sendWithKey, graphql, random }) => {
    await sendWithKey({ path: botPath('honest', random.pick(['runs', 'deployments'])) });
    await graphql(
      '{ bot(id: "honest") { session(id: "honest-1") { messages { edges { node { text } } } memory { value } } } }',
    );
  },
};
