import type { ActiveDeployments } from '../../deployments/active.ts';
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

/** The chat pages of bots. A bot has one if its active production deployment has the web channel. */
export type ChatPages = {
  /** Reads the pages of bots, with at most two statements. Bots without a page are left out. */
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
  return {
    async find(botIds) {
      const active = await prisma.activeDeployment.findMany({
        where: { botId: { in: botIds }, environment: 'PRODUCTION' },
        select: { botId: true, deploymentId: true, deployment: { select: { channels: true } } },
      });
      const connected = active.filter(({ deployment }) => deployment.channels.includes('WEB'));
      const running = await activeDeployments.loadAll(
        connected.map(({ deploymentId }) => deploymentId),
      );
      return new Map(
        connected.flatMap(({ botId, deploymentId }) => {
          const definition = running.get(deploymentId)?.definition;
          const channel = definition?.channels.find(({ type }) => type === 'web');
          if (!definition || !channel) return [];
          const { welcome, suggestions } = channel;
          return [[botId, { deploymentId, name: definition.name, welcome, suggestions }]];
        }),
      );
    },

    urlOf: (botId) => publicUrl && `${publicUrl}/chat/${botId}`,
  };
}
