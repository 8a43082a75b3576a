import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import {
  askForRefund,
  decide,
  refundTools,
  requestRefund,
  settled,
  waitingCall,
} from './refund-desk.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;
/** The ids of the approvals, oldest first. */
let ids: string[];
let denied: string[];

/** Lets each guest ask for a refund. @returns the ids of the calls. */
async function askInTurn(of: string, guests: string[]): Promise<string[]> {
  const asked: string[] = [];
  for (const guest of guests) {
    const runId = await askForRefund(tenant, of, guest);
    asked.push((await app.prisma.approval.findFirstOrThrow({ where: { runId } })).id);
  }
  return asked;
}

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
  app.upstream.script(requestRefund());
  tenant = await app.tenant();
  bot = await tenant.bot(refundTools(site));
  ids = await askInTurn(bot, ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  denied = ids.filter((_id, index) => index % 2 === 0);
  for (const id of denied) await decide(tenant, id, 'DENY');
  // Three of them have the same time, so that only their ids order them.
  const where = { id: { in: ids.slice(2, 5) } };
  const { createdAt } = await app.prisma.approval.findUniqueOrThrow({
    where: { id: ids[2] ?? '' },
  });
  await app.prisma.approval.updateMany({ where, data: { createdAt } });
  const other = await tenant.bot(refundTools(site));
  await askForRefund(tenant, other);
  await waitingCall(app, other);
});
afterAll(() => site.close());

const get = (query: string, of = bot) =>
  fetch(`${app.url}/v1/bots/${of}/approvals${query}`, { headers: tenant.headers });

type Page = { approvals: { id: string; status: string }[]; next_cursor: string | null };

/** Reads all pages. */
const pagesOf = async (query: string) => {
  const pages: Page['approvals'][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const given: string = cursor && `&cursor=${cursor}`;
    const response = await get(`?${query}${given}`);
    expect(response.status).toBe(200);
    const page: Page = (await response.json()) as Page;
    pages.push(page.approvals);
    cursor = page.next_cursor;
  }
  return pages;
};

const idsOf = (pages: Page['approvals'][]) => pages.flat().map(({ id }) => id);

test.each([1, 2, 3, 7, 100])(
  'pages of %i have each approval of the bot once, newest first',
  async (limit) => {
    const pages = await pagesOf(`limit=${limit}`);
    expect(idsOf(pages)).toEqual(ids.toReversed());
    expect(pages.map(({ length }) => length <= limit)).not.toContain(false);
    expect(pages).toHaveLength(Math.ceil(ids.length / limit));
  },
);

test('pages of one state have only approvals in this state', async () => {
  const waiting = ids.filter((id) => !denied.includes(id));
  expect(idsOf(await pagesOf('status=waiting&limit=2'))).toEqual(waiting.toReversed());
  expect(idsOf(await pagesOf('status=denied&limit=3'))).toEqual(denied.toReversed());
  expect(idsOf(await pagesOf('status=approved'))).toEqual([]);
});

test('a page after the first stays complete while approvals are added and decided', async () => {
  const own = await tenant.bot(refundTools(site));
  const asked = await askInTurn(own, ['a', 'b', 'c', 'd']);
  const first = (await (await get('?limit=3', own)).json()) as Page;
  await askForRefund(tenant, own, 'later');
  const [second = ''] = asked.slice(-2);
  await decide(tenant, second, 'APPROVE');
  const next = `?limit=100&cursor=${first.next_cursor}`;
  const rest = (await (await get(next, own)).json()) as Page;
  expect(rest.approvals.map(({ id }) => id)).toEqual(asked.toReversed().slice(3));
  await settled(app, second);
});

test('a request with several invalid parameters names all of them', async () => {
  const response = await get('?limit=0&cursor=nonsense&status=done&colour=blue');
  expect(response.status).toBe(400);
  const { error } = await response.json();
  expect(error.code).toBe('invalid_request');
  const named = error.details.map(({ path, message }: Record<string, string>) => path || message);
  const parameters = ['cursor', 'limit', 'status'];
  expect(named.toSorted()).toEqual([...parameters, expect.stringContaining('unknown colour')]);
});

test('a decision with several invalid members names all of them', async () => {
  const response = await fetch(`${app.url}/v1/bots/${bot}/approvals/${ids[1]}/decision`, {
    method: 'POST',
    headers: { ...tenant.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ decision: 'maybe', note: 'x'.repeat(2_001), arguments: [] }),
  });
  expect(response.status).toBe(400);
  const { error } = await response.json();
  const paths = error.details.map(({ path }: { path: string }) => path);
  expect(paths.toSorted()).toEqual(['arguments', 'decision', 'note']);
});
