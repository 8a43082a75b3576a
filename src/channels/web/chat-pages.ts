import { LRUCache } from 'lru-cache';
import { createSemaphore } from '../../async/semaphore.ts';
import type { ActiveDeployments, RunningDeployment } from '../../deployments/active.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';

/** The beginning of a conversation on a bot's chat page. */
export type ChatPage = {
  /** The active deployment. The page is the same while it is. */
  deploymentId: string;
  /** Name of the agent, at most 200 characters. */
  name: string;
  /** Shown before the first message, at most 2,000 characters. */
  welcome: string | undefined;
  /** Offered as first messages, at most 8 of 200 characters. */
  suggestions: string[];
};

/** Deployments whose definitions are in memory together to make pages. */
const BATCH = 8;
/** Pages in memory. A page has at most 30 KiB. */
const CACHE_SIZE = 1_000;

/** The chat pages of bots. A bot has one if its active production deployment has the web channel. */
export type ChatPages = {
  /**
   * Reads the pages of bots. Bots without a page are left out. The page of a deployment is made once, a few at a time,
   * because the definition of each may have 256 KiB.
   */
  find(botIds: string[]): Promise<Map<string, ChatPage>>;
  /** The address of a bot's page, whether or not it has one; `undefined` if the server has no public URL. */
  urlOf(botId: string): string | undefined;
};

export function createChatPages({
  prisma,
  activeDeployments,
  publicUrl,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
  publicUrl?: string | undefined;
}): ChatPages {
  /** By deployment id. A stored deployment never changes. */
  const made = new LRUCache<string, { page: ChatPage | undefined }>({ max: CACHE_SIZE });
  const { acquire } = createSemaphore();

  /** Makes the pages of deployments after the pages of other calls, which may be the same ones. */
  const makeAll = async (deploymentIds: string[]): Promise<Map<string, ChatPage | undefined>> => {
    using _turn = await acquire('', 1);
    const pages = new Map<string, ChatPage | undefined>();
    const unknown = deploymentIds.filter((id) => {
      const known = made.get(id);
      if (known) pages.set(id, known.page);
      return !known;
    });
    for (let start = 0; start < unknown.length; start += BATCH) {
      const running = await activeDeployments.loadAll(unknown.slice(start, start + BATCH));
      for (const [id, deployment] of running) {
        const page = pageOf(deployment);
        made.set(id, { page });
        pages.set(id, page);
      }
    }
    return pages;
  };

  return {
    async find(botIds) {
      const active = await prisma.activeDeployment.findMany({
        where: { botId: { in: botIds }, environment: 'PRODUCTION' },
        select: { botId: true, deploymentId: true, deployment: { select: { channels: true } } },
      });
      const connected = active.filter(({ deployment }) => deployment.channels.includes('WEB'));
      const pages = await makeAll(connected.map(({ deploymentId }) => deploymentId));
      return new Map(
        connected.flatMap(({ botId, deploymentId }) => {
          const page = pages.get(deploymentId);
          return page ? [[botId, page]] : [];
        }),
      );
    },

    urlOf: (botId) => publicUrl && `${publicUrl}/chat/${botId}`,
  };
}

function pageOf({ deploymentId, definition }: RunningDeployment): ChatPage | undefined {
  const channel = definition.channels.find(({ type }) => type === 'web');
  if (!channel) return undefined;
  const { welcome, suggestions } = channel;
  return { deploymentId, name: definition.name, welcome, suggestions };
}
