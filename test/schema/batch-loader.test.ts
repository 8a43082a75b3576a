import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeId } from '../../src/text/ids.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { runsOf } from '../helpers/rounds.ts';
import { makeRuns } from '../helpers/runs.ts';

let app: TestApp;
let tenant: Tenant;
let botIds: string[];
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
  botIds = [await makeBot(7), await makeBot(0), await makeBot(3), await makeBot(12)];
});

/** Few times, so that many rows share one. */
const someTime = (index: number) => new Date(Date.UTC(2026, 2, 1 + (index % 3)));

/** A bot with this number of runs, deployments and sessions, and as many messages in each session. */
async function makeBot(count: number): Promise<string> {
  const { prisma } = app;
  const botId = await tenant.bot(null);
  const each = Array.from({ length: count }, (_, index) => index);
  const runs = await makeRuns(
    app,
    botId,
    each.map((index) => ({
      createdAt: someTime(index),
      status: index % 2 ? 'FAILED' : 'COMPLETED',
      sessionId: `user-${index % 4}`,
      latencyMs: index,
    })),
  );
  const deployments = each.map((index) => ({
    id: makeId('dep'),
    botId,
    environment: index % 3 ? ('PRODUCTION' as const) : ('STAGING' as const),
    status: index % 2 ? ('DEPLOYED' as const) : ('FAILED' as const),
    source: '',
    createdAt: someTime(index),
  }));
  await prisma.deployment.createMany({ data: deployments });
  for (const { id: deploymentId, environment } of deployments.slice(0, count > 5 ? 2 : 1)) {
    await prisma.activeDeployment.create({ data: { botId, environment, deploymentId } });
  }
  const sessions = each.map((index) => ({
    id: makeId('ses'),
    botId,
    environment: 'PRODUCTION' as const,
    sessionId: `user-${index}`,
    createdAt: someTime(index),
  }));
  await prisma.session.createMany({ data: sessions });
  await prisma.message.createMany({
    data: sessions.flatMap(({ id: sessionKey }) =>
      runs.slice(0, count).map(({ id: runId }, index) => ({
        id: makeId('msg'),
        sessionKey,
        runId,
        turn: Math.floor(index / 4) + 1,
        position: index % 4,
        role: 'USER' as const,
        text: `${index}`,
      })),
    ),
  });
  return botId;
}

const PAGE =
  '{ edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }';

/** A cursor at a position, which may or may not be the position of a row. */
const cursorOf = (position: string) => Buffer.from(position).toString('base64url');
const someNewest = fc
  .tuple(fc.nat(4), fc.constantFrom('a', 'run_m', 'z'))
  .map(([day, tie]) => cursorOf(`${Date.UTC(2026, 1, 27 + day)}.${tie}`));
const someTurn = fc
  .tuple(fc.nat(4), fc.nat(4))
  .map(([turn, position]) => cursorOf(`${turn}.${position}`));

/** Any part of a list. */
const somePart = (cursor: fc.Arbitrary<string>) =>
  fc
    .record({
      size: fc.nat(9),
      isLast: fc.boolean(),
      after: fc.option(cursor),
      before: fc.option(cursor),
    })
    .map(({ size, isLast, after, before }) =>
      [
        `${isLast ? 'last' : 'first'}: ${size}`,
        ...(after ? [`after: "${after}"`] : []),
        ...(before ? [`before: "${before}"`] : []),
      ].join(', '),
    );

const someRuns = fc
  .tuple(
    somePart(someNewest),
    fc.constantFrom(
      '',
      'filter: { status: [FAILED] }',
      'filter: { user: "user-1" }',
      'filter: { date: "2026-03-02" }',
    ),
  )
  .map(([part, filter]) => `runs(${part} ${filter}) ${PAGE}`);
const someDeployments = fc
  .tuple(
    somePart(someNewest),
    fc.constantFrom(
      '',
      'environment: STAGING',
      'status: FAILED',
      'environment: PRODUCTION, status: DEPLOYED',
    ),
  )
  .map(([part, filter]) => `deployments(${part} ${filter}) ${PAGE}`);
const someSessions = fc
  .tuple(somePart(someNewest), somePart(someTurn))
  .map(
    ([part, messages]) =>
      `sessions(${part}) { edges { cursor node { id messages(${messages}) ${PAGE} } } pageInfo { hasNextPage } }`,
  );
const someOther = fc.constantFrom(
  'activeDeployment { id status bot { name } }',
  'activeDeployment(environment: STAGING) { id bot { id runs(first: 1) { edges { node { id } } } } }',
  'session(id: "user-1") { id bot: sessionId }',
  'session(id: "user-5") { id messages(first: 2) { edges { node { text run { id } } } } }',
  'stats(from: "2026-03-01T00:00:00Z", to: "2026-03-03T00:00:00Z") { runs failed latencyP50 perDay { date runs } }',
  'stats(from: "2026-03-02T00:00:00Z", to: "2026-03-05T00:00:00Z") { runs failed latencyP95 }',
);

const answerOf = async (query: string, key = tenant.apiKey) => {
  const { data, errors } = await app.graphql(key, query);
  expect(errors, query).toBeUndefined();
  return data;
};

describe('a field of all entries of a list', () => {
  test('has the same result as for each entry alone, with any other fields', async () => {
    const edge = fc.oneof(someRuns, someDeployments, someSessions, someOther);
    // Five statistics below a list take more than the 100 points of work that an operation may take.
    const some = fc.array(edge, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(some, async (edges) => {
        const selection = edges.map((edge, index) => `edge${index}: ${edge}`).join(' ');
        const { bots } = await answerOf(
          `{ bots(first: 4) { edges { node { id ${selection} } } } }`,
        );
        expect(bots.edges).toHaveLength(botIds.length);
        for (const { node } of bots.edges) {
          const { bot } = await answerOf(`{ bot(id: "${node.id}") { id ${selection} } }`);
          expect(node, selection).toEqual(bot);
        }
      }),
      { ...runsOf(10), endOnFailure: true },
    );
  });

  test('contains only the bots of a restricted key, in pages', async () => {
    const own = [botIds[0], botIds[2]];
    const key = await tenant.key({ botIds: [botIds[0] ?? '', botIds[2] ?? ''] });
    const ids: string[] = [];
    for (let after = ''; ; ) {
      const { viewer } = await answerOf(
        `{ viewer { account { bots(first: 1 ${after}) { edges { node { id deployments { edges { node { bot { id } } } } } } pageInfo { hasNextPage endCursor } } } } }`,
        key,
      );
      const { edges, pageInfo } = viewer.account.bots;
      for (const { node } of edges) {
        ids.push(node.id);
        for (const { node: deployment } of node.deployments.edges) {
          expect(deployment.bot.id).toBe(node.id);
        }
      }
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(ids.toSorted()).toEqual(own.toSorted());
  });

  test('is refused with an error if the key lacks the scope', async () => {
    const key = await tenant.key({ scopes: ['CHAT'] });
    const { data, errors } = await app.graphql(
      key,
      '{ bots { edges { node { id deployments { edges { node { id } } } runs { edges { node { id } } } } } } }',
    );
    expect(data).toBeNull();
    expect(errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('contains nothing of another account, even for an operator', async () => {
    const other = await app.tenant();
    await other.bot(null);
    const key = await tenant.key({ scopes: ['OPERATOR'] });
    const { nodes } = await answerOf(
      `{ nodes(ids: ["${tenant.accountId}", "${other.accountId}"]) { ... on Account { id bots { edges { node { id } } } } } }`,
      key,
    );
    expect(nodes[0].bots.edges).toHaveLength(botIds.length);
    expect(nodes[1]).toEqual({ id: other.accountId, bots: { edges: [] } });
  });

  test('contains only permitted nodes among others', async () => {
    const otherTenant = await app.tenant();
    const foreignBot = await otherTenant.bot();
    await (await otherTenant.chat(foreignBot, { message: 'Hi' }, { 'x-session-id': 's' })).text();
    const idsOf = async (botId: string) => {
      const ofBot = { where: { botId } };
      const rows = [
        await app.prisma.run.findFirstOrThrow(ofBot),
        await app.prisma.deployment.findFirstOrThrow(ofBot),
        await app.prisma.session.findFirstOrThrow(ofBot),
      ];
      return [botId, ...rows.map(({ id }) => id)];
    };
    const [first = '', , third = ''] = botIds;
    const [own, closed, others] = [await idsOf(first), await idsOf(third), await idsOf(foreignBot)];
    const ids = JSON.stringify([own, closed, others, otherTenant.accountId].flat());
    const seen = async (key: string) => {
      const { nodes } = await answerOf(`{ nodes(ids: ${ids}) { id } }`, key);
      return nodes.map((node: { id: string } | null) => node?.id);
    };
    const none = Array.from({ length: 5 });
    expect(await seen(tenant.apiKey)).toEqual([...own, ...closed, ...none]);
    const limited = await tenant.key({ botIds: [first] });
    expect(await seen(limited)).toEqual([...own, ...closed.map(() => undefined), ...none]);
  });

  test('has an error for invalid arguments of entries', async () => {
    const { errors } = await tenant.graphql(
      `{ bots { edges { node { sessions(first: 1) { edges { node { messages(after: "${cursorOf('1.run_x')}") { edges { cursor } } } } } } } } }`,
    );
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ path: 'after', message: 'is not a cursor of this list' }],
    });
  });
});
