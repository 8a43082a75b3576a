import type { Call } from '../../../server/call.ts';
import { inCode, indented, inJavaScript, inPython } from './literals.ts';

/** A call as a chat completion in its session. */
function completionOf({ botId, message, sessionId, environment, context, isStreamed }: Call) {
  return {
    model: environment === 'STAGING' ? `${botId}:staging` : botId,
    messages: [{ role: 'user', content: message }],
    ...(isStreamed && { stream: true }),
    ...(sessionId !== undefined && { metadata: { session_id: sessionId } }),
    ...(context && { context }),
  };
}

function headersOf({ onBusy, idempotencyKey }: Call): Record<string, string> {
  return {
    ...(onBusy === 'REJECT' && { 'X-On-Busy': 'reject' }),
    ...(idempotencyKey && { 'Idempotency-Key': idempotencyKey }),
  };
}

/** A program with the package `openai` for Node.js. */
export function openaiNode(call: Call, origin: string): string {
  const headers = headersOf(call);
  const options = Object.keys(headers).length > 0 ? `, ${inJavaScript({ headers })}` : '';
  return `import OpenAI from "openai";

const client = new OpenAI({
  baseURL: ${inCode(`${origin}/v1`)},
  apiKey: process.env.PARLEY_API_KEY,
});
const reply = await client.chat.completions.create(${inJavaScript(completionOf(call))}${options});
${
  call.isStreamed
    ? `for await (const { choices } of reply) {
  process.stdout.write(choices[0]?.delta.content ?? "");
}`
    : 'console.log(reply.choices[0].message.content);'
}
`;
}

/** A program with the package `openai` for Python. Its methods take members of OpenAI's API only. */
export function openaiPython(call: Call, origin: string): string {
  const { context, ...members } = completionOf(call);
  const headers = headersOf(call);
  const given: Record<string, unknown> = {
    ...members,
    ...(context && { extra_body: { context } }),
    ...(Object.keys(headers).length > 0 && { extra_headers: headers }),
  };
  const lines = Object.entries(given).map(
    ([name, value]) => `    ${name}=${indented(inPython(value), 4)},`,
  );
  return `import os

from openai import OpenAI

client = OpenAI(
    base_url=${inCode(`${origin}/v1`)},
    api_key=os.environ["PARLEY_API_KEY"],
)
reply = client.chat.completions.create(
${lines.join('\n')}
)
${
  call.isStreamed
    ? `for chunk in reply:
    print(chunk.choices[0].delta.content or "", end="", flush=True)`
    : 'print(reply.choices[0].message.content)'
}
`;
}

/** A program with the AI SDK's transport of `@parley/client`, which `useChat` takes too. It always streams. */
export function aiSdk(call: Call, origin: string): string {
  const { botId, message, sessionId, environment, context } = call;
  const options = inJavaScript({
    baseUrl: origin,
    bot: botId,
    ...(sessionId !== undefined && { sessionId }),
    ...(environment === 'STAGING' && { environment: 'staging' }),
    ...(context && { context }),
  });
  const parts = [{ type: 'text', text: message }];
  const messages = [{ id: 'message-1', role: 'user', parts }];
  return `import { ParleyChatTransport } from "@parley/client/ai-sdk";

// In a page: useChat({ transport }), with a session token in place of the key.
const transport = new ParleyChatTransport({
  token: process.env.PARLEY_API_KEY,
  ...${indented(options, 2)},
});
const chunks = await transport.sendMessages({
  trigger: "submit-message",
  chatId: "chat-1",
  messages: ${indented(inJavaScript(messages), 2)},
});
for await (const chunk of chunks) {
  if (chunk.type === "text-delta") process.stdout.write(chunk.delta);
  if (chunk.type === "error") throw new Error(chunk.errorText);
}
`;
}
