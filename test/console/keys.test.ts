import type { Response } from 'playwright-core';
import { beforeAll, describe, expect } from 'vitest';
import { OWNER_SCOPES } from '../../src/accounts/accounts.ts';
import type { KeyScope } from '../../src/generated/prisma/client.ts';
import { startApp, type Tenant, type TestApp } from '../helpers/app.ts';
import { browserTest } from '../helpers/browser.ts';
import { viewerBy } from '../helpers/console.ts';
import { assertAccessible, assertFits } from './page.ts';
import { createVisits } from './visits.ts';

let app: TestApp;
const { signedIn } = createVisits(() => app);
beforeAll(async () => {
  app = await startApp();
});

/** The account of a key, or the error code. */
const accountOf = (key: string) => viewerBy(app, { authorization: `Bearer ${key}` });

/** A key of an account by its name. */
const keyNamed = ({ accountId }: Tenant, name: string) =>
  app.prisma.apiKey.findFirstOrThrow({ where: { accountId, name } });

/** Makes another key, which has a name of its own: keys of one millisecond have no order. */
const otherKey = async (tenant: Tenant, name: string, scopes: KeyScope[] = ['CHAT']) => {
  const { accountId } = tenant;
  const { id } = await app.prisma.apiKey.findFirstOrThrow({ where: { accountId } });
  await tenant.key({ scopes });
  await app.prisma.apiKey.updateMany({ where: { accountId, id: { not: id } }, data: { name } });
};

describe('the keys', () => {
  browserTest('are created with scopes, bots and an expiry, and shown once', async () => {
    const tenant = await app.tenant();
    const bot = await tenant.bot(null);
    const page = await signedIn(tenant.apiKey, '/settings/keys');
    await page.getByText('this session').waitFor();
    await assertAccessible(page);
    await assertFits(page);
    await page.getByRole('link', { name: 'New key' }).click();
    const dialog = page.getByRole('dialog', { name: 'New API key' });
    await dialog.waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/settings/keys/new`);
    await dialog.getByLabel('Name').fill('Web shop');
    await dialog.getByLabel('chat').uncheck();
    const create = dialog.getByRole('button', { name: 'Create key' });
    await expect.poll(() => create.getAttribute('title')).toBe('Choose at least one scope.');
    await dialog.getByLabel('chat').check();
    await dialog.getByLabel(/^runs/).check();
    await expect.poll(() => dialog.getByLabel('operator').count()).toBe(0);
    await dialog.getByLabel('Only some bots').check();
    await dialog.getByLabel(`Bot ${bot}`).check();
    await dialog.getByLabel('Expires').selectOption('In 30 days');
    await assertAccessible(page);
    await assertFits(page);
    await create.click();

    const shown = page.getByRole('dialog', { name: 'New key Web shop' });
    await shown.getByText('cannot show it again').waitFor();
    await shown.getByText(`signs in to the console with it at ${app.url}.`).waitFor();
    await assertAccessible(page);
    for (const _ of [1, 2, 3]) await page.keyboard.press('Escape');
    const secret = (await shown.locator('pre').textContent()) ?? '';
    expect(await accountOf(secret)).toBe(tenant.accountId);
    const key = await keyNamed(tenant, 'Web shop');
    expect(key).toMatchObject({ scopes: ['CHAT', 'RUNS'], botIds: [bot] });
    const days = (Number(key.expiresAt) - Date.now()) / 86_400_000;
    expect(days).toBeCloseTo(30, 1);
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await page
      .getByRole('row', {
        name: /Web shop .* May chat with its bots and read runs and conversations\. Bot/,
      })
      .waitFor();
    await expect.poll(() => page.url()).toBe(`${app.url}/settings/keys`);
    expect(await page.content()).not.toContain(secret);
  });

  browserTest('can be created with only the keyboard', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings/keys');
    await page.getByText('this session').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    const reach = async (name: string) => {
      for (let presses = 0; presses < 30 && (await focused()) !== name; presses += 1)
        await page.keyboard.press('Tab');
      await expect.poll(focused).toBe(name);
    };
    await reach('New key');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New API key' }).waitFor();
    await page.keyboard.type('Typed');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'New key Typed' }).waitFor();
    await reach('I have stored it');
    await page.keyboard.press('Enter');
    await page
      .getByRole('row', { name: /Typed .* May chat with its bots and deploy definitions\. all/ })
      .waitFor();
  });

  browserTest('are changed, and the change is undone', async () => {
    const tenant = await app.tenant();
    await otherKey(tenant, 'Web shop');
    const page = await signedIn(tenant.apiKey, '/settings/keys');
    await page.getByRole('button', { name: 'Actions for Web shop' }).click();
    await page.getByRole('menuitem', { name: 'Edit…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Edit Web shop' });
    await dialog.getByLabel('Name').fill('Renamed');
    await dialog.getByLabel('deploy').check();
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Save' }).click();
    // A toast with the focus stays.
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page
      .getByRole('row', { name: /Renamed .* May chat with its bots and deploy definitions\./ })
      .waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Changed Web shop back.').waitFor();
    expect(await keyNamed(tenant, 'Web shop')).toMatchObject({ scopes: ['CHAT'], expiresAt: null });
  });

  browserTest('have validation errors at their fields', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings/keys/new');
    await page.getByLabel('Name').fill('Late');
    await page.getByLabel('Expires').selectOption('At a time…');
    await page.getByLabel('Time, in your time zone').fill('2020-01-01T10:00');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('must be in the future').waitFor();
    await assertAccessible(page);
  });

  browserTest('are rotated, and the session continues with the new one', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings/keys');
    await page.getByRole('button', { name: 'Actions for Key' }).click();
    await page.getByRole('menuitem', { name: 'Rotate…' }).click();
    await page.getByLabel('The old key stays valid').selectOption('not at all: revoke it at once');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Rotate key' }).click();
    const shown = page.getByRole('dialog', { name: 'New secret of Key' });
    await shown.getByText('This session continues with the new key.').waitFor();
    const secret = (await shown.locator('pre').textContent()) ?? '';
    expect(await accountOf(tenant.apiKey)).toBe('INVALID_API_KEY');
    expect(await accountOf(secret)).toBe(tenant.accountId);
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('row', { name: /Key this session/ }).waitFor();
    await page.getByRole('button', { name: 'Show 1 ended key' }).click();
    await page.getByText('revoked').waitFor();
  });

  browserTest('are revoked together with the keys that they created, after a warning', async () => {
    const tenant = await app.tenant();
    await otherKey(tenant, 'Other', OWNER_SCOPES);
    const page = await signedIn(tenant.apiKey, '/settings/keys/new');
    await page.getByLabel('Name').fill('Child');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('row', { name: /^Child/ }).waitFor();
    const own = page.getByRole('row', { name: /this session/ });
    await own.getByRole('button', { name: 'Actions for Key' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Revoke Key?' });
    await dialog.getByText('Revoking it ends this session.').waitFor();
    await dialog.getByLabel('Also revoke the key that it created').check();
    await assertAccessible(page);
    await dialog.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    for (const name of ['Key', 'Child'])
      expect((await keyNamed(tenant, name)).revokedAt).toBeInstanceOf(Date);
    expect((await keyNamed(tenant, 'Other')).revokedAt).toBeNull();
  });

  browserTest('cannot be revoked if no other key manages the account', async () => {
    const tenant = await app.tenant();
    const page = await signedIn(tenant.apiKey, '/settings/keys');
    await page.getByRole('button', { name: 'Actions for Key' }).click();
    await page.getByRole('menuitem', { name: 'Revoke…' }).click();
    await page.getByRole('button', { name: 'Revoke key' }).click();
    await page.getByText("This is the account's last unrestricted API key").waitFor();
    expect(await accountOf(tenant.apiKey)).toBe(tenant.accountId);
  });

  browserTest('of another account are on no screen', async () => {
    const mine = await app.tenant();
    const other = await app.tenant();
    const bot = await other.bot(null);
    await app.prisma.bot.update({ where: { id: bot }, data: { name: 'Canary bot' } });
    const { accountId } = other;
    await app.prisma.apiKey.updateMany({ where: { accountId }, data: { name: 'Canary key' } });
    await app.prisma.account.update({ where: { id: accountId }, data: { name: 'Canary account' } });
    const { data } = await other.graphql(`mutation { updateBot(id: "${bot}", input: {}) { id } }`);
    expect(data.updateBot.id).toBe(bot);
    const page = await signedIn(mine.apiKey, '/settings');
    const answers: Promise<string>[] = [];
    const read = (response: Response) => {
      if (!response.url().endsWith('/graphql')) return;
      // An answer that arrives while the page is left cannot be read, and is on no screen.
      answers.push(response.text().catch(() => ''));
    };
    page.on('response', read);
    for (const [path, text] of [
      ['/settings/keys/new', 'this session'],
      ['/settings/audit', 'Nothing was changed yet'],
      [`/settings/audit?bot=${bot}`, 'No entry matches'],
      ['/settings/usage', 'No bot has used a token'],
      ['/settings/accounts', 'lacks the scope operator'],
      ['/bots', 'Make your first bot'],
    ]) {
      await page.goto(path ?? '');
      await page
        .getByText(text ?? '')
        .first()
        .waitFor();
      await Promise.all(answers);
    }
    await page.keyboard.press('Control+k');
    await page.getByRole('option', { name: 'New bot' }).waitFor();
    page.off('response', read);
    const seen = await Promise.all(answers);
    expect(seen.length).toBeGreaterThan(6);
    expect(seen.filter((answer) => answer.includes('Canary'))).toEqual([]);
  });
});
