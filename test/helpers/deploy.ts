import { createDeploy, type Deploy } from '../../src/deployments/deploy.ts';
import { createReadSource } from '../../src/deployments/read-source.ts';

type Parts = Parameters<typeof createDeploy>[0];

/**
 * Deploys in a database beside the app: by default no tool server is probed, no channel is connected, and no replica is
 * notified.
 */
export function createTestDeploy(parts: Partial<Parts> & Pick<Parts, 'prisma' | 'cipher'>): Deploy {
  return createDeploy({
    read: createReadSource(),
    probeTools: async () => [],
    connections: {
      check: async () => [],
      claim: async () => [],
      replace: async () => {},
      connect: async () => {},
    },
    versions: { renew: async () => {} },
    changes: { notify: () => {}, follow: async function* () {} },
    notifyGates: () => {},
    ...parts,
  });
}
