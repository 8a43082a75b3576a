import { beforeAll, describe, expect } from 'vitest';
import { agent, startApp, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { assertAccessible, assertFits, assertWrongEnvironment } from './page.ts';
import { editorOf, putCursor, studioOf, textOf, write } from './studio-page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** Opens the Studio of a new bot. */
async function open(members = '', search = '') {
  const tenant = await app.tenant();
  const bot = await tenant.bot(members);
  const page = await signedIn(tenant.apiKey, studioOf(bot, search));
  await editorOf(page).waitFor();
  return { page, tenant, bot };
}

describe('the editor', () => {
  browserTest(
    'opens the running definition with its styles, allowed by the policy of the page',
    async () => {
      const { page } = await open('memory { city "Where orders go" }');
      await expect.poll(() => textOf(page)).toContain('city "Where orders go"');
      const colour = (role: string) =>
        page
          .locator(`.tok-${role}`)
          .first()
          .evaluate((element) => getComputedStyle(element).color);
      expect(await colour('keyword')).not.toBe(await colour('name'));
      const styles = await page.locator('.studio-editor').evaluate(({ shadowRoot }) => ({
        elements: shadowRoot?.querySelectorAll('style').length,
        sheets: shadowRoot?.adoptedStyleSheets.length,
      }));
      expect(styles).toEqual({ elements: 0, sheets: 1 });
      await assertAccessible(page);
      await assertFits(page);
    },
  );

  browserTest(
    'opens what runs in production if its address names no valid environment',
    async () => {
      const { page, bot } = await open('', '?environment=mars&panel=outline');
      await assertWrongEnvironment(page);
      await expect
        .poll(() => page.url())
        .toBe(`${app.url}${studioOf(bot, '?panel=outline&environment=production')}`);
    },
  );

  browserTest('shows a mistake while it is typed, lists it, and takes its suggestion', async () => {
    const { page } = await open('', '?panel=problems');
    await page.getByText('No problems.').waitFor();
    await write(page, agent('histry last 5 messages'));
    const problem = page.getByRole('button', { name: /unknown setting "histry"/ });
    await problem.waitFor();
    await page.getByRole('tab', { name: 'Problems 1' }).waitFor();
    await page.getByText('1 error').waitFor();
    await problem.click();
    await page.locator('.cm-lintRange-error').hover();
    const fix = page.getByRole('button', { name: 'Change to history' });
    await fix.waitFor();
    await assertAccessible(page);
    await fix.click();
    await page.getByText('No problems.').waitFor();
    await expect.poll(() => textOf(page)).toContain('history last 5 messages');
  });

  browserTest('goes to the next problem by F8', async () => {
    const { page } = await open();
    await write(page, agent('histry last 5 messages'));
    await page.locator('.cm-lintRange-error').waitFor();
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('F8');
    await page.locator('.cm-diagnostic').getByText('unknown setting').waitFor();
  });

  browserTest('completes settings with their arguments, and explains them', async () => {
    const { page } = await open('memory { city "Where orders go" }');
    await putCursor(page, 4, '"You are a test."');
    await page.keyboard.press('Enter');
    await page.keyboard.type('lim');
    const options = page.getByRole('listbox');
    await options.getByText('limits').waitFor();
    const help = page.getByText('In limits, tool_calls is 0 to 64 for one run');
    await help.waitFor();
    // The tooltip of the options does not cut it off.
    await help.click({ trial: true });
    await assertAccessible(page);
    await page.keyboard.press('Enter');
    await page.keyboard.type('run');
    await options.getByText('run_time').click();
    await page.keyboard.type('30s');
    await expect.poll(() => textOf(page)).toContain('  limits {\n    run_time 30s\n  }');
  });

  browserTest('completes the paths of templates and the names of variables', async () => {
    const { page } = await open('memory { city "Where orders go" }');
    await putCursor(page, 4, 'You are a test.');
    await page.keyboard.type(' {{ mem');
    await page.getByRole('listbox').getByText('memory.city').click();
    await expect.poll(() => textOf(page)).toContain('{{ memory.city');
  });

  browserTest('shows the reference’s sentences on the word below the pointer', async () => {
    const { page } = await open('history last 5 messages');
    await page.locator('.tok-keyword', { hasText: 'history' }).hover();
    await page.getByText('sets how many messages are sent to the model').waitFor();
  });

  browserTest(
    'formats by Shift-Alt-F, by Ctrl-S and by its button, and the cursor stays',
    async () => {
      const { page } = await open();
      const formatted = agent('history last 5 messages').replace(/^( {2})+$/gm, '');
      for (const run of [
        () => page.keyboard.press('Shift+Alt+f'),
        () => page.keyboard.press('Control+s'),
        () => page.getByRole('button', { name: 'Format' }).click(),
      ]) {
        await write(page, formatted.replaceAll('  ', '\t\t'));
        await putCursor(page, 5, 'last');
        await run();
        await expect.poll(() => textOf(page)).toContain('\n  history last 5 messages\n');
        await editorOf(page).focus();
        await page.keyboard.type('X');
        await expect.poll(() => textOf(page)).toContain('history lastX 5');
      }
      await write(page, 'agentlang 5\nagent "A" {');
      await page.keyboard.press('Shift+Alt+f');
      await page.getByText('Not formatted').waitFor();
    },
  );

  browserTest('renames a fact in all its places by F2, and undoes it at once', async () => {
    const { page } = await open(
      'prompt "{{ memory.city }} and {{ memory.city }}"\n  memory { city }',
    );
    await putCursor(page, 5, 'memory.ci');
    await page.keyboard.press('F2');
    const dialog = page.getByRole('dialog', { name: 'Rename the fact city' });
    await dialog.getByText('It is used in 3 places.').waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('New name').fill('2');
    await dialog.getByText('no digit first').waitFor();
    await dialog.getByLabel('New name').fill('town');
    await page.keyboard.press('Enter');
    await expect.poll(() => textOf(page)).toContain('memory { town }');
    await expect.poll(() => textOf(page)).toContain('{{ memory.town }} and {{ memory.town }}');
    await page.locator('.cm-focused').waitFor();
    await page.keyboard.press('Control+z');
    await expect.poll(() => textOf(page)).toContain('memory { city }');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('F2');
    await page.getByText('Put the cursor on a fact').waitFor();
  });

  browserTest('folds blocks, finds text, and comments lines out', async () => {
    const { page } = await open('memory {\n    city "Where"\n  }');
    await putCursor(page, 5, 'memory');
    await page.keyboard.press('Control+Shift+BracketLeft');
    await page.locator('.cm-foldPlaceholder').waitFor();
    await expect.poll(() => textOf(page)).not.toContain('city');
    await page.keyboard.press('Control+Shift+BracketRight');
    await page.keyboard.press('Control+f');
    await page.getByRole('textbox', { name: 'Find' }).pressSequentially('Where');
    await page.locator('.cm-searchMatch').waitFor();
    await assertAccessible(page);
    await page.keyboard.press('Escape');
    await putCursor(page, 6, 'city');
    await page.keyboard.press('Control+/');
    await expect.poll(() => textOf(page)).toContain('# city');
  });

  browserTest('lets the keyboard leave it, by Escape and then Tab', async () => {
    const { page } = await open();
    await page.getByText('then Tab leaves the editor').waitFor();
    await putCursor(page, 4, 'prompt');
    await page.keyboard.press('Tab');
    await expect.poll(() => textOf(page)).toContain('\n    prompt');
    const isOutside = () =>
      page.evaluate(() => !document.activeElement?.classList.contains('studio-editor'));
    // The editor lets Tab leave it for two seconds.
    await expect
      .poll(async () => {
        await page.keyboard.press('Escape');
        await page.keyboard.press('Tab');
        return isOutside();
      })
      .toBe(true);
  });
});

describe('the outline', () => {
  browserTest('leads to settings, tools and variables', async () => {
    const { page } = await open('tools time', '?panel=outline');
    await page.getByRole('list', { name: 'Tools' }).getByText('time').click();
    await page.locator('.cm-focused').waitFor();
    await page.keyboard.type('# ');
    await expect.poll(() => textOf(page)).toContain('# tools time');
    await write(page, agent('model "m" { api_key env.MODEL_KEY }'));
    await page.getByRole('list', { name: 'Variables' }).getByText('not set').waitFor();
    await assertAccessible(page);
    await assertFits(page);
  });
});

describe('in a narrow window', () => {
  browserTest(
    'the editor and the panels are tabs, and a problem leads back to its place',
    async () => {
      const { page } = await open();
      await page.setViewportSize({ width: 360, height: 740 });
      await write(page, agent('histry last 5 messages'));
      await page.getByRole('tab', { name: 'Problems 1' }).click();
      await expect.poll(() => editorOf(page).isVisible()).toBe(false);
      await page.getByRole('button', { name: /unknown setting/ }).click();
      await page.locator('.cm-focused').waitFor();
      await page.keyboard.type('# ');
      await expect.poll(() => textOf(page)).toContain('# histry');
      await assertAccessible(page);
    },
  );
});

describe('the Studio', () => {
  browserTest('opens from the navigation and the palette', async () => {
    const { page, bot, tenant } = await open();
    await page.getByRole('link', { name: 'Playground', exact: true }).click();
    await page.getByLabel('Message').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('studio');
    await page.keyboard.press('Enter');
    await editorOf(page).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe(studioOf(bot));
    const other = await tenant.bot(null);
    await page.goto(studioOf(other));
    await page.getByText('Nothing is deployed to production. This is an example').waitFor();
    await editorOf(page).waitFor();
    await expect.poll(() => textOf(page)).toContain('agentlang 5');
  });

  browserTest(
    'opens what runs in production for a staging environment without a deployment',
    async () => {
      const { page } = await open('memory { city }', '?environment=staging');
      await page
        .getByText('Nothing is deployed to staging. This is the active definition of production')
        .waitFor();
      await expect.poll(() => textOf(page)).toContain('memory { city }');
    },
  );

  browserTest('names the missing scope, and the request that failed', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot();
    const page = await signedIn(await tenant.key({ scopes: ['CHAT'] }), studioOf(bot));
    await page.getByText('Your key lacks the scope deploy.').waitFor();
    await assertAccessible(page);
    const other = await signedIn(tenant.apiKey, studioOf('nothing'));
    await other.getByRole('heading', { name: 'There is no such bot' }).waitFor();
    await assertAccessible(other);
  });
});
