import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Log } from '../log.ts';
import { secretKeyCheck } from '../storage/secret-key.ts';
import type { EnvironmentCipher } from './environment.ts';

const BATCH = 100;

/**
 * Encrypts anew what is encrypted under a previous secret key, and has the installation remember the present
 * one, so that the previous ones can be taken out of the settings. It can be broken off at any point and done
 * again, and must be: replicas that still write under a previous key may do so after it. What no key reads stays.
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
      log.error({ err, deployment: id }, 'The variables of a deployment cannot be read.');
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
