import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { headers, url } from './target.js';

const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';

/** The scenarios of a server without tools of the suite. The others call tools, prompts and resources by name. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'resources-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

/** The suite sends no key, so a proxy adds it. */
const proxy = createServer((incoming, outgoing) => {
  const { method, url: path } = incoming;
  const all = { ...incoming.headers, authorization: headers.Authorization };
  const forwarded = request(new URL(path ?? '', url), { method, headers: all }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
    answer.pipe(outgoing);
  });
  forwarded.once('error', () => outgoing.destroy());
  incoming.pipe(forwarded);
});
proxy.listen(0, '127.0.0.1');
await once(proxy, 'listening');
const { port } = proxy.address() as AddressInfo;

for (const scenario of SCENARIOS) {
  const target = ['--url', `http://127.0.0.1:${port}/mcp`, '--scenario', scenario];
  await promisify(execFile)(process.execPath, [SUITE, 'server', ...target]).catch((error) => {
    throw new Error(`${scenario}: ${error.stdout}`);
  });
}
proxy.close();
proxy.closeAllConnections();

console.log(`${SCENARIOS.length} scenarios of the conformance suite pass`);
