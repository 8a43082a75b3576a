import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createEnvironmentCipher } from '../../src/deployments/environment.ts';
import { rotateSecretKey } from '../../src/deployments/rotation.ts';
import type { PrismaClient } from '../../src/generated/prisma/client.ts';
import { secretKeyCheck } from '../../src/storage/secret-key.ts';
import { makeId } from '../../src/text/ids.ts';
import { agent } from '../helpers/app.ts';
import { testDatabase } from '../helpers/database.ts';
import { createTestDeploy } from '../helpers/deploy.ts';

const [first, second] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const variables = { TOKEN: 'hunter2-hunter2', EMPTY: '', UNICODE: 'ключ 🔑' };

describe('the variables of a deployment', () => {
  const cipher = createEnvironmentCipher(first);

  test('are encrypted, and decrypted completely', () => {
    const encrypted = cipher.encrypt('dep_1', variables);
    expect(Buffer.from(encrypted).toString('latin1')).not.toContain('hunter2');
    expect(cipher.decrypt('dep_1', encrypted)).toEqual(variables);
    expect(cipher.encrypt('dep_1', variables)).not.toEqual(encrypted);
  });

  test('cannot be decrypted as the variables of another deployment', () => {
    expect(() => cipher.decrypt('dep_2', cipher.encrypt('dep_1', variables))).toThrow();
  });

  test('cannot be altered at any position', () => {
    const encrypted = cipher.encrypt('dep_1', variables);
    for (let place = 0; place < encrypted.length; place += 1) {
      const changed = encrypted.map((byte, index) => (index === place ? byte ^ 1 : byte));
      expect(() => cipher.decrypt('dep_1', changed)).toThrow();
    }
  });

  test('are decrypted with a previous key, and encrypted with the current one', () => {
    const old = cipher.encrypt('dep_1', variables);
    const rotated = createEnvironmentCipher(second, [first]);
    expect(rotated.decrypt('dep_1', old)).toEqual(variables);
    const fresh = rotated.encrypt('dep_1', variables);
    expect(() => cipher.decrypt('dep_1', fresh)).toThrow(/need another secret key/);
  });
});

describe('a new secret key', () => {
  let prisma: PrismaClient;
  beforeAll(async () => {
    ({ prisma } = await testDatabase());
    await prisma.deployment.deleteMany();
    await prisma.installation.deleteMany();
  });
  const encrypted = async (id: string) => {
    const { envVars } = await prisma.deployment.findUniqueOrThrow({ where: { id } });
    return envVars ?? new Uint8Array();
  };

  test('is used for all stored variables, after which the old one is not needed', async () => {
    const botId = makeId('bot');
    await prisma.account.create({
      data: {
        id: makeId('acc'),
        name: 'A',
        plan: 'FREE',
        bots: { create: { id: botId, name: 'B' } },
      },
    });
    await prisma.installation.create({ data: { secretKeyCheck: secretKeyCheck(first) } });
    const before = createEnvironmentCipher(first, [second]);
    const deployNow = createTestDeploy({ prisma, cipher: before });
    const request = {
      botId,
      environment: 'PRODUCTION' as const,
      source: agent(),
      unsetEnvVars: [],
    };
    const made = await deployNow({ action: 'DEPLOY', ...request, envVars: variables });
    await deployNow({ action: 'DEPLOY', ...request, source: 'nonsense', envVars: {} });

    const both = createEnvironmentCipher(second, [first]);
    const log = { warn: () => {}, error: vi.fn() };
    await rotateSecretKey(prisma, both, second, log);
    const rotated = await encrypted(made.id);
    expect(createEnvironmentCipher(second).decrypt(made.id, rotated)).toEqual(variables);
    await rotateSecretKey(prisma, both, second, log);
    expect(await encrypted(made.id)).toEqual(rotated);

    // Written by a replica that still had the old key.
    const late = await deployNow({ action: 'DEPLOY', ...request, envVars: variables });
    await rotateSecretKey(prisma, both, second, log);
    expect(createEnvironmentCipher(second).decrypt(late.id, await encrypted(late.id))).toEqual(
      variables,
    );
    expect(log.error).not.toHaveBeenCalled();

    const lost = createEnvironmentCipher(Buffer.alloc(32, 9));
    const unread = lost.encrypt(late.id, variables);
    await prisma.deployment.update({ where: { id: late.id }, data: { envVars: unread } });
    await rotateSecretKey(prisma, both, second, log);
    expect(await encrypted(late.id)).toEqual(unread);
    expect(log.error).toHaveBeenCalledOnce();
    const installation = await prisma.installation.findUniqueOrThrow({ where: { id: 1 } });
    expect(installation.secretKeyCheck).toBe(secretKeyCheck(second));
    await prisma.installation.deleteMany();
  });
});
