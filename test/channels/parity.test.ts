import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { agent } from '../helpers/app.ts';
import { deploy, startTelegramApp, type TelegramApp } from './telegram/setup.ts';
import { askAsVisitor, visit } from './web/visitors.ts';

let at: TelegramApp;
/** The requests to the model. */
let prompts: unknown[];
beforeAll(async () => {
  at = await startTelegramApp();
});
beforeEach(() => {
  prompts = [];
  at.app.upstream.script(({ request, say, end }) => {
    prompts.push(request.body);
    say(`Reply ${request.body.messages.length}.`);
    end();
  });
});

const sourceOf = (prompt: string) =>
  agent(
    `prompt "${prompt}" history last 4 messages channel web {} channel telegram { token env.TOKEN }`,
  );

/** A bot with both channels, and a user of each channel and of the API, who waits for the reply. */
async function users() {
  const { app, tenant, telegram } = at;
  const bot = telegram.bot();
  const botId = await tenant.bot(null);
  const first = await deploy(tenant, botId, bot.token, { source: sourceOf('First.') });
  const { token } = await visit(app, botId);
  let expected = 0;
  const speakers = {
    api: async (message: string) => {
      await tenant.chat(botId, { message }, { 'x-session-id': 'ada' });
    },
    web: async (message: string) => {
      const input = JSON.stringify(message);
      await askAsVisitor(
        app,
        token,
        `mutation { chat(botId: "${botId}", input: { message: ${input} }) { runId } }`,
      );
    },
    telegram: async (message: string) => {
      expected += 1;
      await bot.deliver(app.url, bot.text(message));
      const ended = () =>
        app.prisma.run.count({ where: { botId, channel: 'TELEGRAM', status: 'COMPLETED' } });
      await expect.poll(ended).toBe(expected);
    },
  };
  return { bot, botId, first, speakers };
}

/** Telegram names no client. */
const isOfTrace = (attribute: string) => attribute !== 'parley.client';

/** The spans of the runs of a channel: their names, outcomes and attributes, without ids. */
const tracesOf = (botId: string) => async (channel: string) => {
  const { data } = await at.tenant.graphql(
    `{ runs(botId: "${botId}", first: 10, filter: { channel: ${channel} }) {
      edges { node { trace { spans { name status attributes } } } }
    } }`,
  );
  const traces: { node: { trace: { spans: { attributes: object }[] } } }[] = data.runs.edges;
  return traces.map(({ node }) =>
    node.trace.spans.map(({ attributes, ...span }) => ({
      ...span,
      attributes: Object.keys(attributes).filter(isOfTrace),
    })),
  );
};

describe('a bot with several channels', () => {
  test('sends the model the same requests for the same conversation, with the same traces', async () => {
    const { botId, speakers } = await users();
    const asked: Record<string, unknown[]> = {};
    for (const [channel, say] of Object.entries(speakers)) {
      prompts = [];
      for (const message of ['Hi', 'And now?', 'One more', 'The last one']) await say(message);
      asked[channel] = prompts;
    }
    expect(asked.api).toHaveLength(4);
    expect(asked.web).toEqual(asked.api);
    expect(asked.telegram).toEqual(asked.api);
    const [api, ...others] = await Promise.all(['API', 'WEB', 'TELEGRAM'].map(tracesOf(botId)));
    expect(api).toHaveLength(4);
    for (const traces of others) expect(traces).toEqual(api);
  });

  test('runs a new deployment, and a rollback, on all of them at once', async () => {
    const { tenant } = at;
    const { bot, botId, first, speakers } = await users();
    const promptsNow = async () => {
      prompts = [];
      for (const say of Object.values(speakers)) await say('Hi');
      return prompts.map((body) => JSON.stringify(body).match(/First\.|Second\./)?.[0]);
    };
    expect(await promptsNow()).toEqual(['First.', 'First.', 'First.']);
    await deploy(tenant, botId, bot.token, { source: sourceOf('Second.') });
    expect(await promptsNow()).toEqual(['Second.', 'Second.', 'Second.']);
    const { errors } = await tenant.graphql(
      `mutation { rollback(botId: "${botId}", deploymentId: "${first.id}") { id } }`,
    );
    expect(errors).toBeUndefined();
    expect(await promptsNow()).toEqual(['First.', 'First.', 'First.']);
    const { data } = await tenant.graphql(
      `{ bot(id: "${botId}") { ${['API', 'WEB', 'TELEGRAM']
        .map(
          (channel) =>
            `${channel}: runs(first: 10, filter: { channel: ${channel} }) { edges { node { channel } } }`,
        )
        .join(' ')} } }`,
    );
    for (const channel of ['API', 'WEB', 'TELEGRAM']) {
      expect(data.bot[channel].edges).toEqual(Array(3).fill({ node: { channel } }));
    }
  });
});
