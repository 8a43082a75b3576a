import { expect, test } from 'vitest';
import { looksLikeSecret } from '../../src/language/secrets.ts';

/** Joined at run time, so that secret scanners do not report this file. */
const secret = (...parts: string[]) => parts.join('');

test.each([
  ['an OpenAI key', secret('sk-', 'proj-4f8KQ2mZx9LtB7vR1cYw')],
  ['an Anthropic key', secret('sk-', 'ant-api03-Zx9LtB7vR1cYw4f8KQ2m')],
  ['a Stripe key', secret('sk_', 'live_4f8KQ2mZx9LtB7vR')],
  ['a Parley key', secret('parley_sk_', '4f8KQ2mZx9LtB7vR1cYw4f8KQ2mZx9LtB7vR1cYw4f8')],
  ['a GitHub token', secret('ghp_', '4f8KQ2mZx9LtB7vR1cYw4f8KQ2mZx9LtB7vR')],
  ['a fine-grained GitHub token', secret('github_', 'pat_11ABCDEFG0abcdefghijkl')],
  ['a GitLab token', secret('glpat-', '4f8KQ2mZx9LtB7vR1cYw')],
  ['a Slack token', secret('xoxb-', '2048-4096-4f8KQ2mZx9')],
  ['an AWS key', secret('AKIA', 'IOSFODNN7EXAMPLE')],
  ['a Google key', secret('AIza', 'SyD4f8KQ2mZx9LtB7vR1cYw4f8KQ2mZx9L')],
  ['a Telegram token', secret('1234567890:', 'AAF4f8KQ2mZx9LtB7vR1cYw4f8KQ2mZx9Lt')],
  ['a JSON Web Token', secret('eyJ', 'hbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2ln')],
  ['a private key', secret('-----BEGIN RSA ', 'PRIVATE KEY-----\nMIIE')],
  ['a bearer token', 'Bearer 4f8KQ2mZx9LtB7vR1cYw'],
  ['a long random string', '4f8KQ2mZx9LtB7vR1cYwPq3nHs6dJg5e'],
  ['a long hexadecimal string', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b'],
  [
    'a marked key inside a URL',
    secret('https://a.example/?key=AIza', 'SyD4f8KQ2mZx9LtB7vR1cYw4f8KQ2mZx'),
  ],
])('%s looks like a secret', (_what, text) => {
  expect(looksLikeSecret(`"${text}"`)).toBe(true);
  expect(looksLikeSecret(`Use ${text} for it.`)).toBe(true);
});

test.each([
  ['prose', 'You are the order desk of ACME. Be brief, and never promise refunds.'],
  ['prose about tokens', 'Send the header Authorization: Bearer followed by your token.'],
  ['a header that is a template', 'Bearer {{ env.ORDERS_KEY }}'],
  ['a header that is a template with a default', 'Bearer {{ env.ORDERS_ACCESS_KEY_2 ?? "none" }}'],
  ['words with dashes', 'The risk-based-something-or-other approach, sk-learn-like-interfaces'],
  [
    'a long German word',
    'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft',
  ],
  ['a long identifier', 'getCustomerOrderHistoryByCustomerIdAndOrderNumberV2'],
  ['a constant', 'MAXIMUM_NUMBER_OF_ORDERS_PER_CUSTOMER_2024_01_31'],
  ['a UUID', 'Session 123e4567-e89b-12d3-a456-426614174000'],
  [
    'a date and an order number',
    'A-1042 on 2024-05-17T10:32:00Z, invoice 20240517-000123-4567890123',
  ],
  ['a URL with a random string', 'https://www.notion.so/acme/4f8KQ2mZx9LtB7vR1cYwPq3nHs6dJg5e'],
  ['a long path', 'https://a.example/how-to-return-a-damaged-item/step-by-step-guide-2024.html'],
  ['a horizontal rule', '----------------------------------------------------------------'],
  ['digits', '12345678901234567890123456789012345678901234567890'],
  ['a repeated letter', 'aA1'.repeat(20)],
  ['Chinese', '您好，请问您的订单号是多少？'.repeat(5)],
])('%s does not look like a secret', (_what, text) => {
  expect(looksLikeSecret(text)).toBe(false);
});
