import { beforeAll, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { makeApproval, SHOP } from '../helpers/approvals.ts';
import { makeRuns } from '../helpers/runs.ts';
import { recordStatements } from '../helpers/statements.ts';

const MIB = 1024 * 1024;

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const TOO_MUCH = {
  message: expect.stringMatching(/larger than 8 MiB.*fewer entries or fewer fields/),
  extensions: { code: 'REQUEST_TOO_LARGE' },
};

/** Makes a bot with denied calls, each of a run of its own. */
async function makeCalls(tools: string, count: number) {
  const bot = await tenant.bot(tools);
  const { deploymentId } = await app.prisma.activeDeployment.findFirstOrThrow({
    where: { botId: bot },
  });
  const runs = await makeRuns(app, bot, Array(count).fill({ deploymentId }));
  const ids = [];
  for (const { id } of runs) ids.push(await makeApproval(app, bot, id, deploymentId));
  return { bot, deploymentId, ids };
}

const listOf = (bot: string, fields: string) =>
  tenant.graphql(
    `query ($bot: ID!) { bot(id: $bot) { approvals(first: 100) { edges { node { id ${fields} } } } } }`,
    { bot },
  );

describe('the texts of approvals', () => {
  test.each(['arguments', 'editedArguments', 'request { body }'])(
    '%s count towards the bytes that an operation reads, and one call is always readable',
    async (field) => {
      const { bot, ids } = await makeCalls(SHOP, 9);
      const text = 'x'.repeat(MIB);
      await app.prisma.approval.updateMany({
        where: { id: { in: ids } },
        data: {
          arguments: JSON.stringify({ text }),
          editedArguments: JSON.stringify({ text }),
          request: { method: 'POST', url: 'https://shop.example/refunds', body: text },
        },
      });
      const { errors } = await listOf(bot, field);
      expect(errors?.[0]).toMatchObject(TOO_MUCH);
      const one = await tenant.graphql(`query ($id: ID!) { approval(id: $id) { ${field} } }`, {
        id: ids[0],
      });
      expect(one.errors).toBeUndefined();
      expect(JSON.stringify(one.data).length).toBeGreaterThan(MIB);
    },
  );
});

describe('the schemas of the arguments', () => {
  /** Its schema has about 100 KiB. */
  const wide = Array.from({ length: 60 }, (_, at) => {
    const choices = Array.from(
      { length: 16 },
      (_, choice) => `"${`${at}-${choice}-`.padEnd(100, 'c')}"`,
    );
    return `field_${at} ${choices.join(' | ')}`;
  });
  const WIDE = `tools shop { capability refund "Refunds an order." {
    input { ${wide.join('\n')} }
    approval
    post "https://shop.example/refunds"
  } }`;

  test('count towards the bytes that an operation reads', async () => {
    const { bot } = await makeCalls(WIDE, 90);
    const { errors } = await listOf(bot, 'inputSchema');
    expect(errors?.[0]).toMatchObject(TOO_MUCH);
  });

  test('are read for all calls of a page at once, also if a definition is not valid any more', async () => {
    const { bot, deploymentId, ids } = await makeCalls(SHOP, 3);
    const { bot: other } = await makeCalls(SHOP, 1);
    const { deploymentId: broken } = await app.prisma.activeDeployment.findFirstOrThrow({
      where: { botId: other },
    });
    await app.prisma.deployment.update({ where: { id: broken }, data: { source: 'agentlang 4' } });
    await app.prisma.approval.update({
      where: { id: ids[0] ?? '' },
      data: { deploymentId: broken },
    });
    const statements = recordStatements();
    statements.clear();
    const { data, errors } = await listOf(bot, 'inputSchema');
    expect(errors).toBeUndefined();
    const schemas = new Map<string, unknown>();
    for (const { node } of data.bot.approvals.edges) schemas.set(node.id, node.inputSchema);
    expect(schemas.get(ids[0] ?? '')).toBeNull();
    for (const id of ids.slice(1))
      expect(schemas.get(id)).toMatchObject({ type: 'object', additionalProperties: false });
    const reads = statements.texts().filter((text) => text.includes(broken));
    expect(reads.length).toBeLessThanOrEqual(1);
    expect(deploymentId).not.toBe(broken);
  });
});

describe('other arguments for a call', () => {
  const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });

  test.each([
    ['query', '64 KiB', { text: 'x'.repeat(65 * 1024) }, 'must not be larger than 64 KiB'],
    ['query', '32 levels', deep(40), 'level'],
    ['mutation', '64 KiB', { text: 'x'.repeat(65 * 1024) }, 'must not be larger than 64 KiB'],
    ['mutation', '32 levels', deep(40), 'level'],
    ['query', 'an object', [1], 'object'],
    ['mutation', 'an object', [1], 'object'],
  ])('in a %s are refused beyond %s', async (kind, _bound, given, message) => {
    const { ids } = await makeCalls(SHOP, 1);
    const document =
      kind === 'query'
        ? 'query ($id: ID!, $given: JSON!) { approvalRequest(id: $id, arguments: $given) { url } }'
        : 'mutation ($id: ID!, $given: JSON!) { decideApproval(id: $id, decision: APPROVE, arguments: $given) { id } }';
    const { errors } = await tenant.graphql(document, { id: ids[0], given });
    expect(errors?.[0]).toMatchObject({
      message: expect.stringContaining(message),
      extensions: { code: 'INVALID_REQUEST' },
    });
  });
});
