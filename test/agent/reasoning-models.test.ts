import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import type { Exchange } from '../helpers/upstream.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
});
beforeEach(async () => {
  tenant = await app.tenant();
  app.upstream.requests.length = 0;
  app.upstream.script(gpt6);
});

const EFFORTS = ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
/** The tokens that this model spends on reasoning. */
const REASONING_TOKENS = 64;

type Body = {
  tools?: unknown[];
  messages: { role: string }[];
  reasoning_effort?: string;
  temperature?: number;
  max_tokens?: number;
  max_completion_tokens?: number;
};

/**
 * Why OpenAI's chat completions refuse a request for gpt-6-luna.
 * Sources: github.com/langflow-ai/langflow/issues/14361 (tools) and
 * github.com/experientiallabs/experiential/issues/764 (efforts).
 */
function refusalOf(body: Body): [param: string, message: string] | undefined {
  const { reasoning_effort: effort = 'medium', tools, temperature, max_tokens } = body;
  if (max_tokens !== undefined) {
    const name = "'max_tokens' is not supported with this model. Use 'max_completion_tokens'";
    return ['max_tokens', `Unsupported parameter: ${name} instead.`];
  }
  if (!EFFORTS.includes(effort)) {
    const values = EFFORTS.map((one) => `'${one}'`).join(', ');
    const what = `'${effort}' is not supported with the 'gpt-6-luna' model`;
    return ['reasoning_effort', `Unsupported value: ${what}. Supported values are: ${values}.`];
  }
  if (tools && effort !== 'none') {
    const what = 'Function tools with reasoning_effort are not supported for gpt-6-luna';
    const advice = "To use function tools, use /v1/responses or set reasoning_effort to 'none'.";
    return ['reasoning_effort', `${what} in /v1/chat/completions. ${advice}`];
  }
  if (temperature !== undefined && temperature !== 1 && effort !== 'none') {
    const what = `'temperature' does not support ${temperature} with this model`;
    return ['temperature', `Unsupported value: ${what}. Only the default (1) value is supported.`];
  }
  return undefined;
}

/** Answers as gpt-6-luna: it calls the first tool once, and then replies. */
function gpt6(exchange: Exchange): void {
  const { response, call } = exchange;
  const body: Body = exchange.request.body;
  const refusal = refusalOf(body);
  if (refusal) {
    const [param, message] = refusal;
    const error = { message, type: 'invalid_request_error', param, code: 'unsupported_value' };
    response.writeHead(400, { 'content-type': 'application/json' });
    return void response.end(JSON.stringify({ error }));
  }
  if (body.tools && body.messages.at(-1)?.role === 'user') {
    call(['time_now', {}]);
    return;
  }
  const reasoning = body.reasoning_effort === 'none' ? 0 : REASONING_TOKENS;
  const isSpent = (body.max_completion_tokens ?? Infinity) <= reasoning;
  const delta = isSpent ? {} : { content: 'Done.' };
  const usage = {
    prompt_tokens: 12,
    completion_tokens: reasoning + (isSpent ? 0 : 3),
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const choices = [{ index: 0, delta, finish_reason: isSpent ? 'length' : 'stop' }];
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(`data: ${JSON.stringify({ choices })}\n\n`);
  response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
}

const botWith = (settings: string, members = '') =>
  tenant.bot(`model "gpt-6-luna" { ${settings} }\n  ${members}`);

/** Sends a message. @returns the reply, the run, and the bodies of the requests to the model. */
const chat = async (bot: string) => {
  const from = app.upstream.requests.length;
  const response = await tenant.chat(bot, { message: 'Hi' });
  const reply = await response.json();
  const id = response.headers.get('x-run-id') ?? '';
  const run = await app.prisma.run.findUniqueOrThrow({ where: { id } });
  const bodies: Body[] = app.upstream.requests.slice(from).map(({ body }) => body);
  const refused = bodies.filter((body) => refusalOf(body)).length;
  return { reply, run, bodies, refused, spans: JSON.stringify(run.spans) };
};

describe('a model that reasons by default', () => {
  test('works with tools, a temperature and a limit of tokens, if it does not reason', async () => {
    const bot = await botWith('reasoning none temperature 0.3 max_tokens 50', 'tools time');
    const first = await chat(bot);
    expect(first.reply).toMatchObject({ response: 'Done.' });
    expect(first.refused).toBe(1);
    const second = await chat(bot);
    expect(second.refused).toBe(0);
    expect(second.bodies).toHaveLength(2);
    expect(second.bodies[1]).toMatchObject({
      reasoning_effort: 'none',
      temperature: 0.3,
      max_completion_tokens: 50,
      tools: [{}],
    });
    expect(second.spans).toContain('"parley.request.left_out":["max_tokens"]');
  });

  test.each([
    ['by default', ''],
    ['with an effort', 'reasoning high'],
  ])(
    '%s calls tools without reasoning, and the second chat pays nothing',
    async (_how, settings) => {
      const bot = await botWith(`${settings} temperature 0.3`, 'tools time');
      expect((await chat(bot)).reply).toMatchObject({ response: 'Done.' });
      const second = await chat(bot);
      expect(second.reply).toMatchObject({ response: 'Done.' });
      expect(second.refused).toBe(0);
      expect(second.bodies).toHaveLength(2);
      for (const body of second.bodies) {
        expect(body).toMatchObject({ reasoning_effort: 'none', temperature: 0.3 });
      }
      const leftOut = '"parley.request.left_out":["reasoning_effort"]';
      expect(second.spans.includes(leftOut)).toBe(settings !== '');
    },
  );

  test('gets no temperature while it reasons, but another definition keeps its own', async () => {
    const bot = await botWith('temperature 0.3');
    expect((await chat(bot)).refused).toBe(1);
    const second = await chat(bot);
    expect(second.refused).toBe(0);
    expect(second.bodies).toHaveLength(1);
    expect(second.bodies[0]).not.toHaveProperty('temperature');
    expect(second.spans).toContain('"parley.request.left_out":["temperature"]');
    const other = await chat(await botWith('reasoning none temperature 0.3'));
    expect(other.bodies).toMatchObject([{ temperature: 0.3, reasoning_effort: 'none' }]);
    expect(other.spans).not.toContain('left_out');
  });

  test('does not get an effort that it does not know, but those that it knows', async () => {
    const bot = await botWith('reasoning minimal');
    expect((await chat(bot)).refused).toBe(1);
    const second = await chat(bot);
    expect(second.refused).toBe(0);
    expect(second.bodies[0]).not.toHaveProperty('reasoning_effort');
    expect(second.spans).toContain('"parley.request.left_out":["reasoning_effort"]');
    for (const effort of ['none', 'low', 'medium', 'high']) {
      const { bodies } = await chat(await botWith(`reasoning ${effort}`));
      expect(bodies).toMatchObject([{ reasoning_effort: effort }]);
    }
  });

  test('counts its reasoning against max_tokens, and the failed run says so', async () => {
    const { reply, run } = await chat(await botWith(`max_tokens ${REASONING_TOKENS}`));
    expect(reply.error.message).toBe(
      `The model reached max_tokens before it answered. It used ${REASONING_TOKENS} tokens for reasoning.`,
    );
    expect(run).toMatchObject({ status: 'FAILED', finishReason: 'length', reasoningTokens: 64 });
    const enough = await chat(await botWith(`max_tokens ${REASONING_TOKENS + 3}`));
    expect(enough.reply).toMatchObject({ response: 'Done.' });
    const none = await chat(await botWith(`reasoning none max_tokens ${REASONING_TOKENS}`));
    expect(none.reply).toMatchObject({ response: 'Done.' });
  });
});
