import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { type Site, startSite } from '../helpers/site.ts';
import { createUser, type User } from './terminal.ts';

let site: Site;
let app: TestApp;
let tenant: Tenant;
let bot: string;
let user: User;

beforeAll(async () => {
  site = await startSite();
  app = await startApp({ allowedHosts: [site.host] });
});
afterAll(() => site.close());
beforeEach(async () => {
  site.requests.length = 0;
  site.handle((_request, response) => response.end('Refunded.'));
  tenant = await app.tenant();
  bot = await tenant.bot(`tools orders {
    capability refund "Refunds an order." {
      input { order_id string  amount number }
      approval "A refund is paid out at once."
      post "${site.origin}/refunds"
    }
    capability find "Finds an order." {
      input { order_id string }
      get "${site.origin}/orders/{{input.order_id}}"
    }
  }`);
  user = await createUser({ PARLEY_API_KEY: tenant.apiKey, PARLEY_URL: app.url });
});

const parley = (...line: string[]) => user.parleyHere(line);

/** Lets the model call a tool once, and say something. */
function callOnce(tool: string, input: object): void {
  app.upstream.script(({ request, call, say, end }) => {
    if (request.body.messages.at(-1)?.role === 'user' && isRequest(request))
      return call([tool, input]);
    say('Done.');
    return end();
  });
}

const isRequest = ({ body }: { body: { messages: { content: unknown }[] } }) =>
  body.messages.at(-1)?.content === 'Go.';

/** Asks for a refund. @returns the id of the call, and of the run. */
const ask = async () => {
  callOnce('orders_refund', { order_id: 'A-1', amount: 5 });
  const answer = await tenant.chat(bot, { message: 'Go.' }, { 'X-Session-ID': 'ada' });
  const { run_id: runId } = await answer.json();
  const { id } = await app.prisma.approval.findFirstOrThrow({ where: { runId } });
  return { id, runId };
};

const settled = (id: string) =>
  expect
    .poll(async () => (await app.prisma.approval.findUnique({ where: { id } }))?.settledAt, {
      timeout: 60_000,
    })
    .not.toBeNull();

describe('parley approvals', () => {
  test('lists what waits, and all on request', async () => {
    const none = await parley('approvals', '--bot', bot);
    expect(none).toEqual({
      code: 0,
      stdout: `${bot} has no calls that wait for approval.\n`,
      stderr: '',
    });
    const { id } = await ask();
    const { stdout } = await parley('approvals', 'list', '--bot', bot);
    expect(stdout).toMatch(/^ID +STATUS +TOOL +USER +ASKED +EXPIRES +REQUEST\n/);
    expect(stdout).toMatch(new RegExp(`^${id} +waiting +orders\\.refund +ada .*POST http`, 'm'));
    await parley('approvals', 'deny', id);
    const json = async (...line: string[]) =>
      JSON.parse((await parley('approvals', '--bot', bot, '--json', ...line)).stdout);
    expect(await json()).toEqual([]);
    expect(await json('--all')).toMatchObject([{ id, status: 'denied', channel: 'api' }]);
    expect(await json('--status', 'denied')).toHaveLength(1);
    expect(await json('--status', 'approved')).toEqual([]);
    const both = await parley('approvals', '--bot', bot, '--all', '--status', 'denied');
    expect(both).toMatchObject({
      code: 2,
      stderr: 'Error: --all and --status exclude each other.\n',
    });
  });

  test('shows the exact request, approves it, and then shows its result', async () => {
    const { id } = await ask();
    const before = (await parley('approvals', 'show', id)).stdout;
    expect(before).toMatch(/^Status +waiting$/m);
    expect(before).toContain('Reason\nA refund is paid out at once.\n');
    expect(before).toContain(
      `Request\nPOST ${site.origin}/refunds with {"order_id":"A-1","amount":5}\n`,
    );
    const approved = await parley('approvals', 'approve', id, '--note', 'By phone.');
    expect(approved).toEqual({
      code: 0,
      stdout: `Approved orders.refund. It is sent once. See its result: parley approvals show ${id}\n`,
      stderr: '',
    });
    await settled(id);
    const after = (await parley('approvals', 'show', id)).stdout;
    expect(after).toMatch(/^Status +approved$/m);
    expect(after).toMatch(/^Note +By phone\.$/m);
    expect(after).toMatch(/^Call +completed, HTTP 200$/m);
    expect(after).toContain('Result\nRefunded.\n');
    expect(site.requests).toHaveLength(1);
  });

  test('approves with other arguments, from the line or a file', async () => {
    const { id } = await ask();
    const path = join(user.home, 'refund.json');
    await writeFile(path, '{"order_id":"A-1","amount":2}');
    const invalid = [['[1]'], ['{'], ['@missing.json']];
    for (const [text = ''] of invalid)
      expect((await parley('approvals', 'approve', id, '--arguments', text)).code).not.toBe(0);
    const unfit = await parley('approvals', 'approve', id, '--arguments', '{"amount":"much"}');
    expect(unfit).toMatchObject({ code: 1, stdout: '' });
    expect(unfit.stderr).toContain('order_id');
    expect((await parley('approvals', 'approve', id, '--arguments', `@${path}`)).code).toBe(0);
    await settled(id);
    expect(site.requests.map(({ body }) => body)).toEqual(['{"order_id":"A-1","amount":2}']);
  });

  test('explains a decision that cannot be made', async () => {
    const { id } = await ask();
    expect((await parley('approvals', 'deny', id, '--note', 'Too late.')).stdout).toBe(
      'Denied orders.refund. It is not sent.\n',
    );
    const again = await parley('approvals', 'approve', id);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/^Error: The call was denied at .+\.\n$/);
    const missing = await parley('approvals', 'show', 'tcl_0');
    expect(missing).toMatchObject({ code: 1, stdout: '' });
    expect(missing.stderr).toContain('tcl_0');
    const weak = await tenant.key({ scopes: ['RUNS'] });
    const refused = await user.parleyHere(['approvals', 'approve', id], {
      env: { PARLEY_API_KEY: weak },
    });
    expect(refused.stderr).toContain('lacks the scope "approve"');
    expect(refused.code).toBe(1);
  });
});

describe('the tool calls of a run', () => {
  test('are in parley run and parley trace with arguments, result and status as text', async () => {
    site.handle((_request, response) => void response.writeHead(404).end('No such order.'));
    callOnce('orders_find', { order_id: 'A-9' });
    const answer = await tenant.chat(bot, { message: 'Go.' });
    const { run_id: runId } = await answer.json();
    for (const name of ['run', 'trace']) {
      const { stdout } = await parley(name, runId);
      expect(stdout).toMatch(/^Tool calls\norders\.find {2}failed {2}HTTP 404 {2}.*tcl_\w+$/m);
      expect(stdout).toContain('  arguments  {"order_id":"A-9"}\n');
      expect(stdout).toContain(`  request    GET ${site.origin}/orders/A-9\n`);
      expect(stdout).toMatch(/^ {2}error {6}.*No such order\.$/m);
    }
  });

  test('say that a call waits for approval', async () => {
    const { runId } = await ask();
    expect((await parley('run', runId)).stdout).toMatch(
      /^orders\.refund {2}waiting for approval {2}tcl_\w+$/m,
    );
  });
});
