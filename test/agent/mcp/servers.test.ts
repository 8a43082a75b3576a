import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { McpTarget } from '../../../src/agent/mcp/connection.ts';
import {
  createMcpServers,
  type McpServers,
  type McpServersLimits,
} from '../../../src/agent/mcp/servers.ts';
import { createEgress, type Egress } from '../../../src/egress/egress.ts';
import { createRedactor } from '../../../src/redaction/redact.ts';
import { type McpSite, startMcp, textResult, tool } from '../../helpers/mcp.ts';
import { startSite } from '../../helpers/site.ts';

let mcp: McpSite;
let egress: Egress;
let servers: McpServers;
beforeEach(async () => {
  mcp = await startMcp();
  mcp.offer([tool('search')]);
  egress = createEgress({ allowedHosts: [mcp.host] });
});
afterEach(async () => {
  await servers.close();
  await egress.close();
  await mcp.close();
});

const start = (limits: Partial<McpServersLimits>) => {
  // No test reaches these limits, even on a slow machine.
  const longLimits = { unreachable: 0, connect: 240_000, call: 240_000 };
  servers = createMcpServers({ egress, limits: { ...longLimits, ...limits } });
};
const target = (key: string, accountId = 'acc_1'): McpTarget => ({
  key,
  accountId,
  url: mcp.url,
  headers: {},
  redactor: createRedactor({}),
});
const { signal } = new AbortController();
const list = (key: string, accountId?: string) => servers.list(target(key, accountId), signal);
const call = (key: string, accountId?: string) =>
  servers.call(target(key, accountId), { name: 'search', input: {}, isRepeatable: false }, signal);

/** Makes every call wait until `release`. `arrived` waits for a number of calls. */
const holdCalls = () => {
  const held = Promise.withResolvers<void>();
  mcp.handle(async () => {
    await held.promise;
    return textResult('Found.');
  });
  return {
    arrived: (count: number) => expect.poll(() => mcp.calls.length).toBe(count),
    release: held.resolve,
  };
};

describe('the sessions with MCP servers', () => {
  test.each<[string, Partial<McpServersLimits>, string]>([
    ['of one account', { accountConnections: 2 }, 'acc_1'],
    ['of the process', { connections: 2 }, 'acc_2'],
  ])('%s are limited: a new one closes the one idle for longest', async (_of, limits, other) => {
    start(limits);
    await list('a');
    await list('b');
    await list('a');
    await list('c', other);
    await expect.poll(() => mcp.sessions()).toBe(2);
    await list('a');
    expect(mcp.count('initialize')).toBe(3);
    await list('b');
    expect(mcp.count('initialize')).toBe(4);
  });

  test('of one account do not close the sessions of another account', async () => {
    start({ accountConnections: 2 });
    await list('a', 'acc_2');
    for (const key of ['b', 'c', 'd', 'e']) await list(key);
    await list('a', 'acc_2');
    expect(mcp.count('initialize')).toBe(5);
  });

  test('are not closed during a call: if all are in use, a new one fails with a clear error', async () => {
    start({ accountConnections: 2 });
    const { arrived, release } = holdCalls();
    const calls = Promise.all([call('a'), call('b')]);
    await arrived(2);
    await expect(list('c')).rejects.toMatchObject({
      code: 'too-many',
      message: 'Too many connections to tool servers are in use.',
    });
    release();
    await calls;
    expect((await list('c')).tools).toHaveLength(1);
  });
});

describe('the listing of an MCP server', () => {
  test.each<[string, unknown[], number]>([
    ['of 5,000 tools keeps 128', Array.from({ length: 5_000 }, (_, n) => tool(`t${n}`)), 128],
    ['of 10,000 invalid tools keeps none', Array(10_000).fill(0), 0],
  ])('%s, and counts the others', async (_what, tools, kept) => {
    start({});
    mcp.intercept(({ rpc }, response) => {
      if (rpc !== 'tools/list') return false;
      // Request ids count from 0. The initialization has the first one.
      const answer = { jsonrpc: '2.0', id: 1, result: { tools } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
      return true;
    });
    const listing = await list('a');
    expect(listing.tools).toHaveLength(kept);
    expect(listing.leftOut).toBe(tools.length - kept);
  });

  test('of more than 1 MiB is not read to its end', async () => {
    start({});
    let sent = 0;
    mcp.intercept(({ rpc }, response) => {
      if (rpc !== 'tools/list') return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write('{"jsonrpc":"2.0","id":1,"result":{"tools":[0');
      const more = () => {
        if (response.destroyed) return;
        sent += 64 * 1024;
        response.write(',0'.repeat(32 * 1024), more);
      };
      more();
      return true;
    });
    await expect(list('a')).rejects.toMatchObject({ code: 'broken' });
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });
});

test('at most 64 probes of deploys run at the same time', async () => {
  const site = await startSite();
  site.handle(() => {});
  const silent = { ...target('silent'), url: `${site.origin}/mcp` };
  await egress.close();
  egress = createEgress({ allowedHosts: [site.host] });
  start({});
  const probes = Array.from({ length: 64 }, () => servers.probe(silent, 240_000).catch(() => {}));
  await expect(servers.probe(silent, 240_000)).rejects.toMatchObject({ code: 'too-many' });
  await site.close();
  await Promise.all(probes);
});
