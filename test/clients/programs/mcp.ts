import assert from 'node:assert/strict';
import { bot, headers, url } from './target.js';

const { MCP_URL: server = '' } = process.env;

const send = async (route: string, body: object) => {
  const response = await fetch(`${url}/v1/bots/${bot}/${route}`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
};

const agentlang = `agentlang 5

agent "Everything" {
  description "Calls tools"
  prompt "You call tools."
  tools everything mcp "${server}"
}
`;
const { status, warnings } = await send('deploy', { agentlang });
assert.deepEqual({ status, warnings }, { status: 'deployed', warnings: [] });

const sum = await send('chat', { message: 'everything.get-sum {"a": 4, "b": 38}' });
assert.deepEqual(sum.tools_called, ['everything.get-sum']);
assert.match(sum.response, /\b42\b/);

console.log(`an agent called ${sum.tools_called}`);
