import type { Call } from '../../../server/call.ts';
import { restRequest } from '../../../server/rest-request.ts';
import { aiSdk, openaiNode, openaiPython } from './entrance-samples.ts';
import { inCode, indented, inJavaScript, inPython, inShell, isLatin } from './literals.ts';

export const LANGUAGES = [
  { name: 'curl', label: 'curl' },
  { name: 'client', label: 'TypeScript client' },
  { name: 'node', label: 'Node.js' },
  { name: 'python', label: 'Python' },
  { name: 'graphql', label: 'GraphQL over SSE' },
  { name: 'openai-node', label: 'OpenAI for Node.js' },
  { name: 'openai-python', label: 'OpenAI for Python' },
  { name: 'ai-sdk', label: 'AI SDK' },
] as const;

export type Language = (typeof LANGUAGES)[number]['name'];

/**
 * A program that sends a call. It works without changes: curl in a POSIX shell, the client and Node.js as ES modules, Python
 * with its standard library, GraphQL with the package `graphql-sse`, and the others with the packages that they name. The key comes from the variable `PARLEY_API_KEY`.
 *
 * @param origin the address of the server, without a path.
 */
export function sampleOf(language: Language, call: Call, origin: string): string {
  switch (language) {
    case 'curl':
      return curl(call, origin);
    case 'client':
      return client(call, origin);
    case 'node':
      return node(call, origin);
    case 'python':
      return python(call, origin);
    case 'graphql':
      return graphql(call, origin);
    case 'openai-node':
      return openaiNode(call, origin);
    case 'openai-python':
      return openaiPython(call, origin);
    case 'ai-sdk':
      return aiSdk(call, origin);
  }
}

function curl(call: Call, origin: string): string {
  const { path, headers, body } = restRequest(call);
  return [
    `curl ${call.isStreamed ? '-N ' : ''}${inShell(origin + path)}`,
    '-H "Authorization: Bearer $PARLEY_API_KEY"',
    ...headers.map(([name, value]) => `-H ${inShell(`${name}: ${value}`)}`),
    `-d ${inShell(body)}`,
  ].join(' \\\n  ');
}

function client(call: Call, origin: string): string {
  const { botId, message, sessionId, context, onBusy, idempotencyKey, isStreamed } = call;
  const input = {
    message,
    sessionId,
    ...(context && { context }),
    ...(call.environment === 'STAGING' && { environment: 'staging' }),
    ...(onBusy === 'REJECT' && { onBusy: 'reject' }),
  };
  const options = idempotencyKey ? `, ${inJavaScript({ idempotencyKey })}` : '';
  const method = isStreamed ? 'chatStream' : 'chat';
  return `import { Parley } from "@parley/client";

const parley = new Parley({
  apiKey: process.env.PARLEY_API_KEY,
  baseUrl: ${inCode(origin)},
});
const reply = ${isStreamed ? '' : 'await '}parley.${method}(${inCode(botId)}, ${inJavaScript(input)}${options});
${
  isStreamed
    ? `for await (const delta of reply) process.stdout.write(delta);
console.log(await reply.finalReply());`
    : 'console.log(reply);'
}
`;
}

function node(call: Call, origin: string): string {
  const { path, headers, body } = restRequest(call);
  const lines = headers.map(([name, value]) => {
    // `fetch` takes only Latin-1, so other characters are sent as the bytes of UTF-8.
    const text = inCode(value);
    const sent = isLatin(value) ? text : `Buffer.from(${text}).toString('latin1')`;
    return `    ${inCode(name)}: ${sent},`;
  });
  return `const response = await fetch(${inCode(origin + path)}, {
  method: "POST",
  headers: {
    Authorization: \`Bearer \${process.env.PARLEY_API_KEY}\`,
${lines.join('\n')}
  },
  body: JSON.stringify(${indented(inJavaScript(JSON.parse(body)), 2)}),
});
if (!response.ok) throw new Error(await response.text());
${
  call.isStreamed
    ? `for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  process.stdout.write(text);
}`
    : 'console.log(await response.json());'
}
`;
}

function python(call: Call, origin: string): string {
  const { path, headers, body } = restRequest(call);
  const lines = headers.map(([name, value]) => {
    // `urllib` takes only Latin-1, so other characters are sent as the bytes of UTF-8.
    const text = inCode(value);
    const sent = isLatin(value) ? text : `${text}.encode().decode("latin-1")`;
    return `        ${inCode(name)}: ${sent},`;
  });
  return `import json
import os
import urllib.request

request = urllib.request.Request(
    ${inCode(origin + path)},
    method="POST",
    headers={
        "Authorization": f"Bearer {os.environ['PARLEY_API_KEY']}",
${lines.join('\n')}
    },
    data=json.dumps(${indented(inPython(JSON.parse(body)), 4)}).encode(),
)
with urllib.request.urlopen(request) as response:
${
  call.isStreamed
    ? `    for line in response:
        print(line.decode(), end="", flush=True)`
    : '    print(json.load(response))'
}
`;
}

function graphql(call: Call, origin: string): string {
  const { botId, message, sessionId, environment, context, onBusy, idempotencyKey } = call;
  const input = { message, sessionId, environment, context, onBusy, idempotencyKey };
  const variables = JSON.parse(JSON.stringify({ botId, input }));
  return `import { createClient } from "graphql-sse";

const client = createClient({
  url: ${inCode(`${origin}/graphql/stream`)},
  headers: { Authorization: \`Bearer \${process.env.PARLEY_API_KEY}\` },
  retryAttempts: 0,
});
const query = \`subscription Chat($botId: ID!, $input: ChatInput!) {
  chat(botId: $botId, input: $input) {
    ... on RunStarted { runId }
    ... on TextDelta { delta }
    ... on ChatDone { latencyMs tokensUsed }
    ... on ChatCancelled { latencyMs }
    ... on ChatFailed { code message }
  }
}\`;
const variables = ${inJavaScript(variables)};
for await (const { data, errors } of client.iterate({ query, variables })) {
  if (errors) throw new Error(errors[0].message);
  console.log(data.chat);
}
`;
}
