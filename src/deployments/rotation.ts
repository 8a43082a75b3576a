import type { PrismaClient } from '../generated/prisma/client.ts';
import { secretKeyCheck } from '../storage/secret-key.ts';
import type { EnvironmentCipher } from './environment.ts';

const BATCH = 100;

/**
 * Encrypts anew what is encrypted under a previous secret key, and has the installation remember the present
 * one, so that the previous ones can be taken out of the settings. It can be broken off at any point and done
 * again.
 */
export async function rotateSecretKey(
  prisma: PrismaClient,
  cipher: EnvironmentCipher,
  secretKey: Buffer,
): Promise<void> {
  const check = secretKeyCheck(secretKey);
  const installation = await prisma.installation.findUnique({ where: { id: 1 } });
  if (installation === null || installation.secretKeyCheck === check) return;
  await encryptAnew(prisma, cipher);
  await prisma.installation.update({ where: { id: 1 }, data: { secretKeyCheck: check } });
}

async function encryptAnew(prisma: PrismaClient, cipher: EnvironmentCipher): Promise<void> {
  for (let after = ''; ; ) {
    const rows = await prisma.deployment.findMany({
      where: { id: { gt: after }, envVars: { not: null } },
      orderBy: { id: 'asc' },
      take: BATCH,
      select: { id: true, envVars: true },
    });
    for (const { id, envVars } of rows) {
      after = id;
      if (envVars === null || !cipher.isOutdated(envVars)) continue;
      const data = { envVars: cipher.encrypt(id, cipher.decrypt(id, envVars)) };
      await prisma.deployment.updateMany({ where: { id }, data });
    }
    if (rows.length < BATCH) return;
  }
}
