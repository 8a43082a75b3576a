import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, inject, onTestFinished, test, vi } from 'vitest';
import { agent, startApp, type Tenant, type TestApp } from '../helpers/app.ts';

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await startApp();
  tenant = await app.tenant();
});

const FIELDS = 'id status version keyId sentEnvNames previous { id }';

type Entry = {
  id: string;
  status: string;
  version: number | null;
  keyId: string | null;
  sentEnvNames: string[];
  previous: { id: string } | null;
};

const deploy = async (botId: string, input: object = {}): Promise<Entry> => {
  const { data } = await tenant.graphql(
    `mutation ($botId: ID!, $input: DeployInput!) { deploy(botId: $botId, input: $input) { ${FIELDS} } }`,
    { botId, input: { source: agent(), ...input } },
  );
  return data.deploy;
};

const redeploy = async (
  field: 'rollback' | 'promote',
  botId: string,
  id: string,
): Promise<Entry> => {
  const { data } = await tenant.graphql(
    `mutation { ${field}(botId: "${botId}", deploymentId: "${id}") { ${FIELDS} } }`,
  );
  return data[field];
};

describe('the history of a bot', () => {
  test('numbers every deployment of the bot, failed ones too', async () => {
    const bot = await tenant.bot(null);
    const first = await deploy(bot);
    const failed = await deploy(bot, { source: 'nothing' });
    const staged = await deploy(bot, { environment: 'STAGING' });
    const promoted = await redeploy('promote', bot, staged.id);
    const back = await redeploy('rollback', bot, first.id);
    const all = [first, failed, staged, promoted, back];
    expect(all.map(({ version }) => version)).toEqual([1, 2, 3, 4, 5]);
    expect(failed.status).toBe('FAILED');
  });

  test('gives concurrent deployments different numbers', async () => {
    const bot = await tenant.bot(null);
    const all = await Promise.all(Array.from({ length: 5 }, () => deploy(bot)));
    expect(all.map(({ version }) => version).sort()).toEqual([1, 2, 3, 4, 5]);
  });

  // PGlite uses the clock of its process.
  test.skipIf(!inject('databaseUrl'))(
    'is in order although the clocks of replicas differ',
    async () => {
      const bot = await tenant.bot(null);
      const first = await deploy(bot);
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
      onTestFinished(() => void vi.useRealTimers());
      const second = await deploy(bot);
      const failed = await deploy(bot, { source: 'nothing' });
      const { data } = await tenant.graphql(
        'query ($id: ID!) { bot(id: $id) { deployments { edges { node { id createdAt } } } } }',
        { id: bot },
      );
      const { edges }: { edges: { node: { id: string; createdAt: string } }[] } =
        data.bot.deployments;
      const listed = edges.map(({ node }) => node);
      expect(listed.map(({ id }) => id)).toEqual([failed.id, second.id, first.id]);
      const times = listed.map(({ createdAt }) => createdAt);
      expect(times).toEqual(times.toSorted().reverse());
    },
  );

  test('has the deployment that each one replaced in its environment', async () => {
    const bot = await tenant.bot(null);
    const first = await deploy(bot);
    const staged = await deploy(bot, { environment: 'STAGING' });
    const second = await deploy(bot);
    const failed = await deploy(bot, { source: 'nothing' });
    const back = await redeploy('rollback', bot, first.id);
    const promoted = await redeploy('promote', bot, staged.id);
    const previous = [first, staged, second, failed, back, promoted].map((one) => one.previous?.id);
    expect(previous).toEqual([undefined, undefined, first.id, second.id, second.id, back.id]);
  });

  test('names the key of each deployment and the variables that came with it', async () => {
    const bot = await tenant.bot(null);
    const { data } = await tenant.graphql('{ viewer { apiKey { id } } }');
    const keyId = data.viewer.apiKey.id;
    const first = await deploy(bot, {
      envVars: [
        { name: 'B', value: '1' },
        { name: 'A', value: '1' },
      ],
    });
    const second = await deploy(bot, { envVars: [{ name: 'A', value: '1' }] });
    const back = await redeploy('rollback', bot, first.id);
    expect([first, second, back].map((one) => one.keyId)).toEqual([keyId, keyId, keyId]);
    expect([first, second, back].map((one) => one.sentEnvNames)).toEqual([['A', 'B'], ['A'], []]);
  });

  test('of earlier versions of Parley is completed by the migration', async () => {
    const bot = await tenant.bot(null);
    const first = await deploy(bot);
    await deploy(bot, { source: 'nothing' });
    await deploy(bot, { environment: 'STAGING' });
    await deploy(bot);
    const read = (
      tx: typeof app.prisma | Parameters<Parameters<typeof app.prisma.$transaction>[0]>[0],
    ) =>
      tx.deployment.findMany({
        where: { botId: bot },
        orderBy: { id: 'asc' },
        select: { id: true, version: true, previousId: true, keyId: true },
      });
    const expected = await read(app.prisma);
    expect(expected.map(({ version }) => version)).toEqual([1, 2, 3, 4]);
    const sql = await readFile(
      'prisma/migrations/20261122180718_deployment_history/migration.sql',
      'utf8',
    );
    const updates = sql.match(/^UPDATE [^;]*/gm) ?? [];
    expect(updates).toHaveLength(2);
    const undo = new Error('undo');
    const work = app.prisma.$transaction(
      async (tx) => {
        await tx.$executeRaw`SET LOCAL idle_in_transaction_session_timeout = 0`;
        // Of all bots, because the migration numbers all rows before it adds the constraint.
        await tx.deployment.updateMany({ data: { version: null, previousId: null, keyId: null } });
        // Earlier versions recorded a failed deploy as a deploy.
        await tx.auditEntry.updateMany({
          where: { action: 'DEPLOY_FAILED' },
          data: { action: 'DEPLOY' },
        });
        for (const update of updates) await tx.$executeRawUnsafe(update);
        expect(await read(tx)).toEqual(expected);
        // Other tests of this worker share the rows.
        throw undo;
      },
      // All deployments of the worker may take longer than Prisma's 5 seconds.
      { maxWait: 300_000, timeout: 300_000 },
    );
    await expect(work).rejects.toBe(undo);
    expect(expected[3]?.previousId).toBe(first.id);
  });
});
