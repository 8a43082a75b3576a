import { beforeAll, describe, expect } from 'vitest';
import { startApp, type TestApp } from '../helpers/app.ts';
import { browserTest, openBlankPage } from '../helpers/browser.ts';
import { isLateFont } from '../helpers/page-log.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});

describe('GraphiQL', () => {
  browserTest('runs the chat subscription, contacts no other host, and stores no key', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await openBlankPage();
    // The items that earlier versions stored.
    await page.addInitScript(() => {
      localStorage.setItem('graphiql:headers', 'Bearer parley_sk_old');
      localStorage.setItem('graphiql:tabState', '{"headers": "Bearer parley_sk_old"}');
    });
    const hosts = new Set<string>();
    const problems: string[] = [];
    page.on('request', (request) => hosts.add(new URL(request.url()).host));
    page.on('console', (message) => {
      if (isLateFont(message.text())) return;
      problems.push(`${message.type()}: ${message.text()} ${message.location().url}`);
    });
    page.on('pageerror', (error) => problems.push(error.message));
    const query = `subscription { chat(botId: "${bot}", input: { message: "Hi" }) { __typename ... on TextDelta { seq delta } ... on ChatDone { tokensUsed } } }`;
    await page.goto(`${app.url}/graphql?query=${encodeURIComponent(query)}`);
    // A click before both editors are there does nothing.
    await page.locator('.graphiql-query-editor .view-lines').getByText('subscription').waitFor();
    await page.locator('.result-window .view-lines').waitFor({ state: 'attached' });
    await page.locator('.graphiql-editor-tool .graphiql-editor:not(.hidden) .view-lines').click();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.insertText(JSON.stringify({ Authorization: `Bearer ${tenant.apiKey}` }));
    // Delete the brackets and quotes that the editor added.
    await page.keyboard.press('ControlOrMeta+Shift+End');
    await page.keyboard.press('Delete');
    await page.locator('.graphiql-execute-button').click();
    const result = page.locator('.result-window');
    await result.getByText('ChatDone').waitFor();
    await expect.poll(() => result.textContent()).toMatch(/tokensUsed.*15/s);
    expect([...hosts].filter((host) => host !== '')).toEqual([new URL(app.url).host]);

    // GraphiQL renders descriptions as HTML.
    await page.getByLabel('Re-fetch GraphQL schema').click();
    await page.getByLabel('Show Documentation Explorer').click();
    await page.locator('.graphiql-doc-explorer-content a').first().waitFor();
    const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, document.cookie]));
    await expect.poll(kept).toContain('tabState');
    expect(await kept()).not.toContain('parley_sk_');
    expect(page.url()).not.toContain('parley_sk_');
    expect(problems).toEqual([]);
  });

  browserTest(
    'fits a phone: the response is below the editors, and the documentation hides both',
    async () => {
      const page = await openBlankPage({ viewport: { width: 390, height: 844 } });
      await page.goto(`${app.url}/graphql`);
      await page.locator('.view-lines').first().waitFor();
      await page.locator('.result-window').waitFor();
      const boxOf = async (part: string) => {
        const box = await page.locator(`.graphiql-${part}`).boundingBox();
        if (!box) throw new Error(`${part} is not shown`);
        return box;
      };
      await expect
        .poll(async () => {
          const [editors, response] = [await boxOf('editors'), await boxOf('response')];
          return {
            isBelow: response.y >= editors.y + editors.height,
            isWide: Math.min(editors.width, response.width) > 280,
          };
        })
        .toEqual({ isBelow: true, isWide: true });
      await page.getByLabel('Show Documentation Explorer').click();
      await page.locator('.graphiql-sessions').waitFor({ state: 'hidden' });
      await expect.poll(async () => (await boxOf('plugin')).width).toBeGreaterThan(280);
    },
  );
});
