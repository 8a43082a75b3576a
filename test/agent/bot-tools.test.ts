import { beforeAll, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

async function toolOf(bot: string) {
  const { data } = await tenant.graphql(
    'query ($ids: [ID!]) { bots(botIds: $ids) { edges { node { id tool { description outputSchema readOnly } } } } }',
    { ids: [bot] },
  );
  expect(data.bots.edges).toHaveLength(1);
  return data.bots.edges[0].node.tool;
}

const tools = (members: string) => tenant.bot(`tools shop { ${members} }`).then(toolOf);

test.each<[string, string, boolean]>([
  ['without tools', '', true],
  ['with a memory', 'memory { name }', true],
  ['with the time', 'tools time', true],
  ['with a server of which it reads', 'tools a mcp "https://a.invalid" { only b reads b }', true],
  ['with a server', 'tools a mcp "https://a.invalid" { reads b }', false],
])('a bot %s is described: %s', async (_what, members, readOnly) => {
  expect(await toolOf(await tenant.bot(members))).toMatchObject({ readOnly });
});

test.each<[string, string, boolean]>([
  ['get', 'capability a "A" { get "https://shop.example" }', true],
  ['post', 'capability a "A" { post "https://shop.example" }', false],
  ['a post that reads', 'capability a "A" { reads post "https://shop.example" }', true],
])(
  'a capability with %s decides whether a bot changes something',
  async (_what, members, readOnly) => {
    expect(await tools(members)).toMatchObject({ readOnly });
  },
);

test('a description is cut to 2,000 characters, and a long output schema to its type', async () => {
  const fields = Array.from({ length: 60 }, (_, at) => `f${at} string "${'x'.repeat(400)}"`);
  const bot = await tenant.bot(`output { ${fields.join('\n')} }`);
  await app.prisma.deployment.updateMany({
    where: { botId: bot },
    data: {
      source: `agentlang 5\nagent "A" {\n  description "${'d'.repeat(3_000)}"\n  prompt "A"\n  output {\n${fields.join('\n')}\n  }\n}\n`,
    },
  });
  expect(await toolOf(bot)).toEqual({
    description: 'd'.repeat(2_000),
    outputSchema: { type: 'object' },
    readOnly: true,
  });
});

test('a deployment that this version cannot read hides only its own bot', async () => {
  const [broken, whole] = [await tenant.bot(), await tenant.bot()];
  await app.prisma.deployment.updateMany({ where: { botId: broken }, data: { source: 'old' } });
  const { data, errors } = await tenant.graphql(
    'query ($ids: [ID!]) { bots(botIds: $ids) { edges { node { id tool { readOnly } } } } }',
    { ids: [broken, whole] },
  );
  expect(errors).toBeUndefined();
  const found = data.bots.edges.map(({ node }: { node: { id: string; tool: unknown } }) => [
    node.id,
    node.tool,
  ]);
  expect(Object.fromEntries(found)).toEqual({ [broken]: null, [whole]: { readOnly: true } });
});
