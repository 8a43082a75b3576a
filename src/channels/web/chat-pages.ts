import type { ActiveDeployments, RunningDeployment } from '../../deployments/active.ts';
import { createDerived } from '../../deployments/derived.ts';
import type { PrismaClient } from '../../generated/prisma/client.ts';
import { type ChatPageTexts, chatPageOf } from '../../language/chat-page.ts';

/** The beginning of a conversation on a bot's chat page. */
export type ChatPage = ChatPageTexts & {
  /** The active deployment. The page is the same while it is. */
  deploymentId: string;
};

/** The chat pages of bots. A bot has one if its active production deployment has the web channel. */
export type ChatPages = {
  /** Reads the pages of bots. Bots without a page are left out. */
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
  activeDeployments: Pick<ActiveDeployments, 'loadValid'>;
  publicUrl?: string | undefined;
}): ChatPages {
  const pagesOf = createDerived(activeDeployments, pageOf);

  return {
    async find(botIds) {
      const active = await prisma.activeDeployment.findMany({
        where: { botId: { in: botIds }, environment: 'PRODUCTION' },
        select: { botId: true, deploymentId: true, deployment: { select: { channels: true } } },
      });
      const connected = active.filter(({ deployment }) => deployment.channels.includes('WEB'));
      const pages = await pagesOf.read(connected.map(({ deploymentId }) => deploymentId));
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
  const texts = chatPageOf(definition);
  return texts && { deploymentId, ...texts };
}
