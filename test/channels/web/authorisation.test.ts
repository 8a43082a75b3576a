import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../../helpers/app.ts';
import { requestOf } from '../../transport/authorisation/rest.ts';
import { type Ids, TABLE } from '../../transport/authorisation/table.ts';
import { say, updateBot, visit, WEB } from './visitors.ts';

let app: TestApp;
let tenant: Tenant;
/** The visitor's own bot and run. */
let own: Ids;
let token: string;
/** The same bot with the run of another visitor. */
let another: Ids;
/** A visitor of another bot of the account. */
let stranger: string;

/** A bot whose visitors reach no limit. */
const openBot = async () => {
  const bot = await tenant.bot(WEB);
  await updateBot(tenant, bot, { visitorMessagesPerMinute: 1_000 });
  return bot;
};

beforeAll(async () => {
  app = await startApp({ trustProxy: ['127.0.0.1'] });
  tenant = await app.tenant();
  const bot = await openBot();
  ({ token } = await visit(app, bot));
  const runOf = async (of: string) => (await say(app, bot, of)).data.chat.runId as string;
  const { id: deployment } = await app.prisma.deployment.findFirstOrThrow({
    where: { botId: bot },
  });
  const { id: key } = await app.prisma.apiKey.findFirstOrThrow({
    where: { accountId: tenant.accountId },
  });
  const { accountId: otherAccount } = await app.tenant();
  const approval = 'tcl_none';
  const evaluation = 'eva_none';
  const shared = {
    ...{ account: tenant.accountId, bot, key, lastingKey: key, deployment, approval, otherAccount },
    evaluation,
  };
  own = { ...shared, run: await runOf(token) };
  another = { ...shared, run: await runOf((await visit(app, bot)).token) };
  stranger = (await visit(app, await openBot())).token;
});

const headersOf = (credential: string) => ({
  authorization: `Bearer ${credential}`,
  'content-type': 'application/json',
  origin: app.url,
});

const outcomeOf = async (document: string, credential: string): Promise<string> => {
  const response = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: {
      ...headersOf(credential),
      accept: document.startsWith('subscription') ? 'text/event-stream' : 'application/json',
    },
    body: JSON.stringify({ query: document }),
  });
  const text = await response.text();
  const [, event] = /^data: ?(\{.*\})$/m.exec(text) ?? [];
  const { errors } = JSON.parse(event ?? text);
  return errors ? errors[0].extensions.code : 'OK';
};

/** What visitors may do: with their own run, with the run of another visitor, and at another bot. */
const ALLOWED: Record<string, [own: string, another: string, stranger: string]> = {
  'Mutation.chat': ['OK', 'OK', 'BOT_ACCESS_DENIED'],
  'Subscription.chat': ['OK', 'OK', 'BOT_ACCESS_DENIED'],
  'Subscription.runEvents': ['OK', 'RUN_NOT_FOUND', 'RUN_NOT_FOUND'],
  'Mutation.cancelRun': ['OK', 'RUN_NOT_FOUND', 'RUN_NOT_FOUND'],
  'Mutation.addFeedback': ['OK', 'RUN_NOT_FOUND', 'RUN_NOT_FOUND'],
  'Mutation.removeFeedback': ['OK', 'RUN_NOT_FOUND', 'RUN_NOT_FOUND'],
  // These operations name the session `user-1`, which is none of a visitor.
  'Mutation.forgetSession': ['INSUFFICIENT_SCOPE', 'INSUFFICIENT_SCOPE', 'BOT_ACCESS_DENIED'],
  'Subscription.sessionChanged': ['INSUFFICIENT_SCOPE', 'INSUFFICIENT_SCOPE', 'BOT_ACCESS_DENIED'],
};
const REFUSED = ['INSUFFICIENT_SCOPE', 'INSUFFICIENT_SCOPE', 'INSUFFICIENT_SCOPE'];

/** An address for each request. */
const addressOf = (...request: unknown[]) =>
  `2001:db8:${createHash('sha256').update(JSON.stringify(request)).digest('hex').slice(0, 4)}::1`;

describe('the token of a visitor', () => {
  test.each(Object.entries(TABLE))('has its rights alone in %s', async (field, { operation }) => {
    const type = field.split('.', 1)[0]?.toLowerCase();
    const outcomes = [];
    for (const [ids, credential] of [
      [own, token],
      [another, token],
      [own, stranger],
    ] as const)
      outcomes.push(await outcomeOf(`${type} { ${operation(ids)} }`, credential));
    expect(outcomes).toEqual(ALLOWED[field] ?? REFUSED);
  });

  test.each(Object.values(TABLE).flatMap(({ rest = {} }) => Object.entries(rest)))(
    'is no key of the REST route %s',
    async (route, sent) => {
      const { method, path, body } = requestOf(route, sent, own);
      const response = await fetch(app.url + path, {
        method,
        // An address without a valid key has few requests a minute.
        headers: { ...headersOf(token), 'x-forwarded-for': addressOf(route, sent) },
        body: body && JSON.stringify(body),
      });
      expect(response.status).toBe(401);
    },
  );
});
