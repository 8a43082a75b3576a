import { expect } from 'vitest';
import type { Tenant, TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';

export type Shop = {
  site: Site;
  /** Deploys a bot whose call `orders.refund` waits for approval. @param more settings of the approval */
  bot(tenant: Tenant, more?: string): Promise<string>;
  /** Sends a message that leads to a call. @returns the id of the run */
  ask(tenant: Tenant, bot: string, user?: string): Promise<string>;
  /** The ids of the waiting calls of a bot, newest first. */
  waiting(bot: string): Promise<string[]>;
};

/** The definition of the shop's tools. */
export const shopTools = (origin: string, more = '') => `tools orders {
    capability lookup "Finds an order." {
      input { order_id string }
      get "${origin}/orders"
    }
    capability refund "Refunds an order." {
      input { order_id string  amount number  reason "damaged" | "late"  notify boolean? }
      approval "A refund is paid out at once." ${more}
      post "${origin}/refunds"
    }
  }`;

/** The host must be in the `allowedHosts` of the app. */
export async function startShop(app: () => TestApp): Promise<Shop> {
  const site = await startSite();
  return {
    site,
    bot: (tenant, more) => tenant.bot(shopTools(site.origin, more)),
    async ask(tenant, bot, user = 'ada') {
      const headers = { 'X-Session-ID': user };
      const response = await tenant.chat(bot, { message: `Refund A-1 for ${user}.` }, headers);
      expect(response.status).toBe(200);
      return response.headers.get('x-run-id') ?? '';
    },
    async waiting(botId) {
      const where = { botId, status: 'WAITING' } as const;
      const orderBy = [{ createdAt: 'desc' }, { id: 'desc' }] as const;
      const rows = await app().prisma.approval.findMany({
        where,
        orderBy: [...orderBy],
        select: { id: true },
      });
      return rows.map(({ id }) => id);
    },
  };
}

export const REFUND = { order_id: 'A-1', amount: 120, reason: 'damaged' };

/** Scripts a model that requests a refund, tells the user about the wait, and repeats the outcome of a notice. */
export function answerAsShop(app: TestApp, input: object = REFUND): void {
  app.upstream.script(({ request, call, say, end }) => {
    const last = request.body.messages.at(-1);
    if (last?.role === 'tool') {
      say('A person decides about the refund.');
      return end();
    }
    if (last?.content.includes('Notice of the server')) {
      const isDone = last.content.includes('was approved');
      say(isDone ? 'The refund is paid out.' : 'The refund was declined.');
      return end();
    }
    return call(['orders_refund', input]);
  });
}
