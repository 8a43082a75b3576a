import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../observability/log.ts';
import { secretKeyCheck } from '../storage/secret-key.ts';
import type { EnvironmentCipher } from './environment.ts';

const BATCH = 100;

/**
 * Re-encrypts variables under the current secret key and stores the check value of that key, so that previous keys can
 * be removed from the settings. It can be interrupted and run again. Run it again after the last replica has the current
 * key, because older replicas still write under a previous key. Data that no key can decrypt stays unchanged.
 */
export async function rotateSecretKey(
  prisma: PrismaClient,
  cipher: EnvironmentCipher,
  secretKey: Buffer,
  log: Log,
): Promise<void> {
  await encryptAnew(prisma, cipher, log);
  const data = { secretKeyCheck: secretKeyCheck(secretKey) };
  await prisma.installation.updateMany({ where: { id: 1 }, data });
}

async function encryptAnew(
  prisma: PrismaClient,
  cipher: EnvironmentCipher,
  log: Log,
): Promise<void> {
  const anew = (id: string, envVars: Uint8Array) => {
    try {
      return cipher.encrypt(id, cipher.decrypt(id, envVars));
    } catch (err) {
      log.error({ err, deployment: id }, 'Failed to decrypt the variables of a deployment.');
      return undefined;
    }
  };

  for (let after = ''; ; ) {
    const rows = await prisma.$queryRaw<{ id: string; envVars: Uint8Array }[]>`
      SELECT id, env_vars AS "envVars" FROM deployments
      WHERE id > ${after} AND substring(env_vars FOR length(${cipher.keyId}::bytea)) <> ${cipher.keyId}
      ORDER BY id LIMIT ${BATCH}`;
    for (const { id, envVars } of rows) {
      after = id;
      const data = { envVars: anew(id, envVars) };
      if (data.envVars) await prisma.deployment.updateMany({ where: { id }, data });
    }
    if (rows.length < BATCH) return;
  }
}
