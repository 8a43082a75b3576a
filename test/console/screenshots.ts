/**
 * `npm run screenshots`: takes a picture of every screen of the console, at three widths and in both themes, from a separate
 * server with sample data, and of the chat page and the widget, at two widths. It writes them to `coverage/screenshots`, which git ignores. With `-- NAME` it takes only
 * the screens whose names begin with that.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { createServer } from 'vite';
import { matches, ROWS } from '../../src/console/screen-addresses.ts';
import { openBrowser } from '../helpers/chromium.ts';
import { temporaryDirectory } from '../helpers/directories.ts';
import { startServer } from '../helpers/server.ts';
import { APPROVAL_SCREENS, APPROVALS } from './approval-screens.ts';
import { CHAT_SIZES, chatScreens } from './chat-screens.ts';
import { DEPLOYMENT_SCREENS, DEPLOYMENTS } from './deployment-screens.ts';
import { EVALUATION_SCREENS } from './evaluation-screens.ts';
import { GUIDE_SCREENS } from './guide-screens.ts';
import { PLAYGROUND_SCREENS } from './playground-screens.ts';
import { RUN_SCREENS } from './run-screens.ts';
import { SESSION_SCREENS } from './session-screens.ts';
import { SETTINGS_SCREENS } from './settings-screens.ts';
import { STUDIO_SCREENS } from './studio-screens.ts';

const DIRECTORY = join(import.meta.dirname, '../../coverage/screenshots');
/** The prefix of the names of the screens to take. */
const [, , ONLY = ''] = process.argv;
const SIZES = [
  [360, 780],
  [1024, 768],
  [1440, 900],
] as const;

/** The addresses of the pictures that were taken. */
const taken: string[] = [];

/** Each screen by the name of its files, with the steps that open it. */
const SCREENS: Record<string, (page: Page) => Promise<unknown>> = {
  bots: async (page) => {
    await page.goto('/bots');
    await page.getByRole('img').first().waitFor();
  },
  'bots-menu': (page) => page.getByRole('button', { name: 'Actions for Demo' }).click(),
  'bots-delete': async (page) => {
    await page.getByRole('menuitem', { name: 'Delete…' }).click();
    await page.getByRole('dialog').waitFor();
  },
  'page-of-chat': async (page) => {
    await page.goto('/bots/demo/chat-page');
    await page.getByLabel('Messages a minute').waitFor();
    await page.getByText('sha384-').waitFor();
  },
  home: async (page) => {
    await page.goto('/bots/demo');
    await page.getByRole('region', { name: 'Addresses' }).waitFor();
    await page.getByRole('region', { name: 'Latest failures' }).waitFor();
  },
  'new-bot': async (page) => {
    await page.goto('/bots/new');
    await page.getByLabel('Name').fill('Demo');
    await page.getByText('is taken').waitFor();
  },
  definition: async (page) => {
    await page.goto('/bots/order-desk/start');
    const definition = page.getByLabel('Definition');
    await definition.fill((await definition.inputValue()).replace('prompt', 'promt'));
    await page.getByText('unknown setting').first().waitFor();
  },
  conversation: async (page) => {
    await page.goto('/bots/demo/start');
    await page.getByLabel('Message').fill('Hello! Please call time.now.');
    await page.keyboard.press('Enter');
    await page.getByText(/first text after .* tokens/).waitFor();
  },
  ...PLAYGROUND_SCREENS,
  ...RUN_SCREENS,
  ...SESSION_SCREENS,
  ...APPROVAL_SCREENS,
  ...DEPLOYMENT_SCREENS,
  ...EVALUATION_SCREENS,
  ...STUDIO_SCREENS,
  ...SETTINGS_SCREENS,
  ...GUIDE_SCREENS,
  'not-found': (page) => page.goto('/bots/x/nothing'),
};

const server = await startServer({ dataDirectory: await temporaryDirectory() });
const link = /http:\S+#code=\S+/.exec(server.output())?.[0] ?? '';
const key = server.operatorKey();
await change('createBot(input: { id: "order-desk", name: "Order desk" }) { id }');
await change('createApiKey(input: { name: "Web shop", botIds: ["demo"] }) { secret }');
await change(
  'createApiKey(input: { name: "Release pipeline", scopes: [DEPLOY, RUNS], expiresAt: "2030-01-01T00:00:00Z" }) { secret }',
);
const { createAccount } = await change(
  'createAccount(input: { name: "ACME", plan: PRO }) { secret }',
);
const staging = JSON.stringify(
  'agentlang 5\nagent "Demo" {\n  description "The next version"\n  prompt "You are brief."\n}\n',
);
await change(`deploy(botId: "demo", input: { source: ${staging}, environment: STAGING }) { id }`);
for (const mutation of [...DEPLOYMENTS, ...APPROVALS]) await change(mutation);
for (let number = 0; number < 24; number += 1) {
  const message =
    number % 6 ? `Where is order A-10${number}?` : 'Please call time.now. What time is it?';
  const context = number % 3 ? '' : ', context: { plan: "pro", city: "Oslo" }';
  const input = `{ message: "${message}", sessionId: "user-${number % 7}"${context} }`;
  const { chat } = await change(`chat(botId: "demo", input: ${input}) { runId }`);
  const rating = number % 8 ? 'UP' : 'DOWN';
  if (number % 4 === 0)
    await change(`addFeedback(runId: "${chat.runId}", rating: ${rating}) { rating }`);
}
for (const [name, value] of Object.entries({
  name: 'Ada Lovelace',
  delivery: 'Leave parcels with the neighbour at number 12. Ring twice, the bell is quiet.',
  language: 'English',
}))
  await change(
    `setMemory(botId: "demo", sessionId: "user-6", name: "${name}", value: "${value}") { id }`,
  );
await change('chat(botId: "demo", input: { message: "Hi!", sessionId: "käse/🧀-7" }) { runId }');
await mkdir(DIRECTORY, { recursive: true });
const browser = await openBrowser();
try {
  const context = await browser.newContext({ baseURL: server.url, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  await page.goto('/bots');
  await page.getByLabel('API key').waitFor();
  await takeAll(page, 'sign-in');
  await page.goto(link);
  await page.getByRole('heading', { name: 'Sign in by this link?' }).waitFor();
  await takeAll(page, 'sign-in-link');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
  const { createSignInCode } = await change('createSignInCode { code }', createAccount.secret);
  await page.goto(`/sign-in#code=${createSignInCode.code}`);
  await page.getByRole('heading', { name: 'Switch to another account?' }).waitFor();
  await takeAll(page, 'sign-in-switch');
  for (const [name, lead] of Object.entries(SCREENS)) {
    if (!name.startsWith(ONLY)) continue;
    await lead(page);
    await takeAll(page, name);
  }
  if ('parts'.startsWith(ONLY)) await takeParts(page);
  if (/^(|chat.*|widget.*)$/.test(ONLY)) await takeChat(page);
  const missed = ROWS.filter(({ path }) => !taken.some((address) => matches(path, address)));
  if (!ONLY && missed.length > 0)
    throw new Error(`No picture shows: ${missed.map(({ title }) => title).join(', ')}`);
} finally {
  await browser.close();
  await server.stop('SIGTERM');
}
console.log(`Wrote ${DIRECTORY}`);

/** Takes the pages of visitors, who have no key. */
async function takeChat(page: Page): Promise<void> {
  const { screens, close } = await chatScreens(server.url, change);
  try {
    for (const [name, lead] of Object.entries(screens)) {
      await lead(page);
      await takeAll(page, name, CHAT_SIZES);
    }
  } finally {
    await close();
  }
}

/** Takes the page of all parts, which only the development server has. */
async function takeParts(page: Page): Promise<void> {
  process.env.PARLEY_URL = server.url;
  const vite = await createServer({
    logLevel: 'error',
    server: { host: '127.0.0.1', port: 0, hmr: false },
  });
  try {
    await vite.listen();
    // Cookies do not depend on the port.
    await page.goto(`${vite.resolvedUrls?.local[0]}console/parts`);
    await page.getByRole('heading', { name: 'Parts' }).waitFor();
    const body = page.locator('.screen-body');
    for (const part of ['top', 'end']) {
      await body.evaluate((element, y) => element.scrollTo(0, y), part === 'top' ? 0 : 1e6);
      await takeAll(page, `parts-${part}`);
    }
  } finally {
    await vite.close();
  }
}

async function takeAll(
  page: Page,
  name: string,
  sizes: readonly (readonly [width: number, height: number])[] = SIZES,
): Promise<void> {
  taken.push(new URL(page.url()).pathname);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    // GraphiQL renders again for another theme.
    if (page.url().includes('/graphql')) await page.waitForTimeout(2_000);
    for (const [width, height] of sizes) {
      await page.setViewportSize({ width, height });
      await page.screenshot({ path: join(DIRECTORY, `${name}-${width}-${colorScheme}.png`) });
    }
  }
}

// biome-ignore lint/suspicious/noExplicitAny: the answer to any mutation
async function change(field: string, by = key): Promise<any> {
  const response = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${by}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `mutation { ${field} }` }),
  });
  return ((await response.json()) as { data: unknown }).data;
}
