// The shop of tutorial.md: an HTTP API with one order, and a server of the Model Context Protocol with one tool.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const KEY = 'shop-secret';
const ORDER = { state: 'sent', city: 'Oslo' };
const TOOL = {
  name: 'find_article',
  description: 'Finds an article of the help centre',
  inputSchema: { type: 'object', properties: { topic: { type: 'string' } }, required: ['topic'] },
};

/** The result of a request of the protocol. An unknown method has none. */
function answer(method, params) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'shop', version: '1' },
      };
    case 'tools/list':
      return { tools: [TOOL] };
    case 'tools/call':
      return {
        content: [{ type: 'text', text: `${params.arguments.topic}: 30 days, free of charge` }],
      };
    default:
      return undefined;
  }
}

const server = createServer(async (request, response) => {
  const reply = (status, body) => {
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
  };
  if (request.url === '/mcp' && request.method === 'POST') {
    const { id, method, params } = JSON.parse(await text(request));
    const result = answer(method, params);
    const error = { code: -32601, message: 'Method not found' };
    if (id === undefined) response.writeHead(202).end();
    else reply(200, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
  } else if (request.url === '/mcp') response.writeHead(405).end();
  else if (request.headers.authorization !== `Bearer ${KEY}`) reply(401, { error: 'wrong key' });
  else if (request.url === '/orders/A-1042') reply(200, ORDER);
  else if (request.url === '/refunds' && request.method === 'POST') reply(201, { refunded: true });
  else reply(404, { error: 'no such order' });
});

server.listen(Number(process.env.SHOP_PORT ?? 8123), '127.0.0.1', () => {
  console.log(`The shop listens on 127.0.0.1:${server.address().port}`);
});
