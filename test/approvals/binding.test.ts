import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Prisma } from '../../src/generated/prisma/client.ts';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { approvalOf, decide, requestAndRepeat, settled } from '../helpers/approvals.ts';
import { type Site, startSite } from '../helpers/site.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
beforeEach(async () => {
  tenant = await app.tenant();
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  requestAndRepeat(app, ['orders_refund', { amount: 5 }]);
});
afterAll(() => site.close());

const members = (path = '/{{env.SHOP}}/refunds') => `tools orders {
    capability refund "Refunds an order." {
      input { amount number }
      approval
      post "${site.origin}${path}" { 
        header "Authorization" "Bearer {{env.TOKEN}}"
        header "X-User" "{{session.id}} at {{now}} in {{context.place}}"
      }
    }
  }`;

const deploy = async (
  definition: string,
  variables: Record<string, string>,
  unset: string[] = [],
) => {
  const { data, errors } = await tenant.graphql(
    `mutation ($bot: ID!, $source: String!, $vars: [EnvVarInput!], $unset: [String!]) {
      deploy(botId: $bot, input: { source: $source, envVars: $vars, unsetEnvVars: $unset }) { status } }`,
    {
      bot,
      source: agent(definition),
      vars: Object.entries(variables).map(([name, value]) => ({ name, value })),
      unset,
    },
  );
  expect(errors).toBeUndefined();
  expect(data.deploy).toMatchObject({ status: 'DEPLOYED' });
};

/** An object whose members the database would store in another order. */
const PLACE = { street: 'Main', no: 1 };

/** Deploys the tool, and lets the model ask for a refund. @returns the id of the call. */
const ask = async (definition = members()) => {
  bot = await tenant.bot(null);
  await deploy(definition, { SHOP: 'first-shop', TOKEN: 'first-token' });
  await (
    await tenant.chat(
      bot,
      { message: 'Refund it.', context: { place: PLACE } },
      { 'x-session-id': 'ada' },
    )
  ).text();
  return (await approvalOf(app, bot)).id;
};

const sent = () => site.requests.map(({ url, headers }) => [url, headers.authorization]);

describe('an approved call is sent with the variables of the deployment that asked', () => {
  test('even if another deployment has other variables and another request', async () => {
    const id = await ask();
    await deploy(members('/v2/{{env.SHOP}}'), { SHOP: 'other-shop', TOKEN: 'other-token' });
    expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
    const { toolCall } = await settled(app, id);
    expect(toolCall).toMatchObject({ status: 'COMPLETED', result: 'Refunded.' });
    expect(sent()).toEqual([['/first-shop/refunds', 'Bearer first-token']]);
  });

  test('also with arguments of the person who approves, and if a later deployment has no variables', async () => {
    const id = await ask();
    await deploy(
      'tools orders { capability refund "Refunds." { approval post "https://shop.example" } }',
      {},
      ['SHOP', 'TOKEN'],
    );
    const edited = { arguments: { amount: 2 } };
    expect(await decide(app, tenant, id, 'APPROVE', edited)).toBeUndefined();
    await settled(app, id);
    expect(sent()).toEqual([['/first-shop/refunds', 'Bearer first-token']]);
    expect(site.requests[0]?.body).toBe('{"amount":2}');
  });

  test('and fails without them: nothing is sent, and the call can be denied', async () => {
    const id = await ask();
    const { deploymentId } = await approvalOf(app, bot);
    await app.prisma.deployment.update({ where: { id: deploymentId }, data: { envVars: null } });
    // This process has not read the deployment before.
    const other = await startApp({ allowedHosts: [site.host] });
    const error = await decide(other, tenant, id, 'APPROVE');
    expect(error).toEqual({
      code: 'TOOL_GONE',
      message: 'The request is no longer the one that was shown. The call can only be denied.',
    });
    expect(await decide(other, tenant, id, 'DENY')).toBeUndefined();
    await other.close();
    await settled(app, id);
    expect(site.requests).toEqual([]);
  });
});

describe('a variable that only a header uses', () => {
  const definition = () => members('/refunds');

  test.each([
    ['another value', { TOKEN: 'other-token' }, []],
    ['no value', {}, ['TOKEN']],
  ])('is sent as it was asked for, if a later deployment has %s', async (_, variables, unset) => {
    const id = await ask(definition());
    await deploy(definition(), variables, unset);
    expect(await decide(app, tenant, id, 'APPROVE')).toBeUndefined();
    await settled(app, id);
    expect(sent()).toEqual([['/refunds', 'Bearer first-token']]);
  });

  test('is not left out: without its value nothing is sent, and the call can be denied', async () => {
    const id = await ask(definition());
    const { deploymentId } = await approvalOf(app, bot);
    await app.prisma.deployment.update({ where: { id: deploymentId }, data: { envVars: null } });
    // This process has not read the deployment before.
    const other = await startApp({ allowedHosts: [site.host] });
    expect(await decide(other, tenant, id, 'APPROVE')).toMatchObject({ code: 'TOOL_GONE' });
    expect(await decide(other, tenant, id, 'DENY')).toBeUndefined();
    await other.close();
    await settled(app, id);
    expect(site.requests).toEqual([]);
  });
});

/** Changes of a stored approval, of which none is what the person was shown. */
const CHANGES: Record<string, (origin: string) => Prisma.Sql> = {
  arguments: () => Prisma.sql`arguments = '{"amount":500}'`,
  request: (origin) =>
    Prisma.sql`request = jsonb_set(request, '{url}', to_jsonb(${`${origin}/harmless`}::text))`,
  body: () => Prisma.sql`request = jsonb_set(request, '{body}', '"{\\"amount\\":1}"')`,
  tool: () => Prisma.sql`name = 'orders.other'`,
  digest: () => Prisma.sql`digest = 'another'`,
  'template value of a header': () => Prisma.sql`values = '{"session":{"id":"bob"}}'`,
};

describe('a stored call that was changed', () => {
  test.each(Object.entries(CHANGES))('cannot be approved: %s', async (_name, change) => {
    const id = await ask();
    await app.prisma.$executeRaw`UPDATE approvals SET ${change(site.origin)} WHERE id = ${id}`;
    expect(await decide(app, tenant, id, 'APPROVE')).toMatchObject({ code: 'TOOL_GONE' });
    expect(await approvalOf(app, bot)).toMatchObject({ status: 'WAITING' });
    expect(site.requests).toEqual([]);
  });

  test.each(Object.entries(CHANGES))(
    'is not sent after its approval, and the user learns that it failed: %s',
    async (_name, change) => {
      const id = await ask();
      // The worker finds the change together with the decision.
      await app.prisma.$executeRaw`
        UPDATE approvals SET status = 'APPROVED', decided_at = now(), ${change(site.origin)} WHERE id = ${id}`;
      const { toolCall, followUp } = await settled(app, id);
      expect(toolCall).toMatchObject({ status: 'FAILED', idempotencyKey: null });
      expect(toolCall.result).toMatch(
        /^Error: (The request is no longer the one that was approved, so it was not sent|There is no tool "orders\.other" any more)\.$/,
      );
      expect(followUp?.response).toContain(`It failed: ${toolCall.result}`);
      expect(site.requests).toEqual([]);
    },
  );
});
