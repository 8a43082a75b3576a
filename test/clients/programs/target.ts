import assert from 'node:assert/strict';

/** The server's address, a key, and a bot that only this program uses. */
export const {
  PARLEY_URL: url = '',
  PARLEY_API_KEY: apiKey = '',
  PARLEY_BOT: bot = '',
  /** A key of an account with a low rate limit. */
  PARLEY_LIMITED_KEY: limitedKey = '',
} = process.env;

export const headers = { Authorization: `Bearer ${apiKey}` };

/** Creates a key with one scope. */
export async function keyFor(scope: 'CHAT' | 'RUNS'): Promise<string> {
  const query = `mutation { createApiKey(input: { name: "One scope", scopes: [${scope}] }) { secret } }`;
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  const { data } = (await response.json()) as { data: { createApiKey: { secret: string } } };
  return data.createApiKey.secret;
}

/** A definition to deploy. */
export const SOURCE = `agentlang 5

agent "Order desk" {
  description "Answers order questions for ACME"
  prompt "You are the order desk of ACME."
  tools time
}
`;

export const MESSAGE = 'Hello!';

/** @throws AssertionError unless the text is the offline model's reply to `MESSAGE`. */
export function assertReply(text: string): void {
  assert.match(text, /^You said: "Hello!"\./);
}

/** @throws AssertionError unless the value is there. */
export function present<Value>(value: Value | null | undefined, name: string): Value {
  assert.ok(value !== null && value !== undefined, `${name} is missing`);
  return value;
}
