import { beforeAll, describe, expect } from 'vitest';
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

const SCOPES = ['ADMIN', 'OPERATOR'] as const;

/** Signs in as an operator and opens the list of all accounts. */
const asOperator = async (path = '/settings/accounts') => {
  const tenant = await app.tenant();
  return { page: await signedIn(await tenant.key({ scopes: [...SCOPES] }), path), tenant };
};

/** Gives an account a unique name. */
const named = async ({ accountId }: Tenant) => {
  const name = `ACME ${accountId.slice(-6)}`;
  await app.prisma.account.update({ where: { id: accountId }, data: { name } });
  return name;
};

const stateOf = ({ accountId }: Tenant) =>
  app.prisma.account.findUnique({ where: { id: accountId } });

describe('an operator', () => {
  browserTest('creates an account, and sees its first key once', async () => {
    const { page, tenant } = await asOperator();
    await page.getByRole('link', { name: 'New account' }).click();
    const name = `Owner ${tenant.accountId.slice(-6)}`;
    const dialog = page.getByRole('dialog', { name: 'New account' });
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('Plan').selectOption('Enterprise');
    await dialog.getByLabel('Requests a minute').fill('0');
    await dialog.getByText('A whole number from 1 to 1,000,000,000.').waitFor();
    await assertAccessible(page);
    await dialog.getByLabel('Requests a minute').fill('77');
    await dialog.getByLabel('Requests a day').fill('7777');
    await dialog.getByRole('button', { name: 'Create account' }).click();
    const shown = page.getByRole('dialog', { name: `First key of ${name}` });
    const secret = (await shown.locator('pre').textContent()) ?? '';
    await assertAccessible(page);
    const id = await viewerBy(app, { authorization: `Bearer ${secret}` });
    await shown.getByRole('button', { name: 'I have stored it' }).click();
    await page
      .getByRole('row', { name: new RegExp(`${name} .*active Enterprise 77 7,777`) })
      .waitFor();
    expect(await app.prisma.account.findUnique({ where: { id } })).toMatchObject({
      name,
      plan: 'ENTERPRISE',
      requestsPerMinute: 77,
      requestsPerDay: 7_777,
    });
    await assertAccessible(page);
    await assertFits(page);
  });

  browserTest('changes a plan, and undoes the change', async () => {
    const other = await app.tenant({ requestsPerMinute: 5, requestsPerDay: 50 });
    const name = await named(other);
    const { page } = await asOperator();
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    await page.getByRole('menuitem', { name: 'Change…' }).click();
    const dialog = page.getByRole('dialog', { name: `Change ${name}` });
    await expect.poll(() => dialog.getByLabel('Requests a minute').inputValue()).toBe('5');
    await dialog.getByLabel('Plan').selectOption('Pro');
    await dialog.getByText('60 requests a minute, 20,000 a day').waitFor();
    await dialog.getByRole('button', { name: 'Save' }).click();
    // A toast with the focus stays.
    await page.getByRole('button', { name: 'Undo' }).focus();
    await page.getByRole('row', { name: new RegExp(`${name} .*Pro 60 20,000`) }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(`Changed ${name} back.`).waitFor();
    expect(await stateOf(other)).toMatchObject({
      plan: 'ENTERPRISE',
      requestsPerMinute: 5,
      requestsPerDay: 50,
    });
  });

  browserTest('suspends an account, resumes it, and deletes it after typing its name', async () => {
    const other = await app.tenant();
    const name = await named(other);
    const { page } = await asOperator();
    const act = async (action: string) => {
      await page.getByRole('button', { name: `Actions for ${name}` }).click();
      await page.getByRole('menuitem', { name: action }).click();
    };
    await act('Suspend…');
    await assertAccessible(page);
    await page.getByRole('button', { name: 'Suspend account' }).click();
    // A toast with the focus stays.
    await page.getByRole('button', { name: 'Undo' }).focus();
    const row = page.getByRole('row', { name: new RegExp(name) });
    await row.getByText('suspended').waitFor();
    expect(await viewerBy(app, other.headers)).toBe('INVALID_API_KEY');
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByText(`Resumed ${name}.`).waitFor();
    await row.getByText('active').waitFor();

    await act('Delete…');
    const dialog = page.getByRole('dialog', { name: `Delete ${name}?` });
    await dialog.getByLabel(/^Type ACME/).fill('acme');
    await page.keyboard.press('Enter');
    expect(await stateOf(other)).not.toBeNull();
    await assertAccessible(page);
    await dialog.getByLabel(/^Type ACME/).fill(name);
    await page.keyboard.press('Enter');
    await page.getByText(`Deleted ${name}.`).waitFor();
    await row.waitFor({ state: 'detached' });
    expect(await stateOf(other)).toBeNull();
  });

  browserTest('can neither suspend nor delete its own account', async () => {
    const { page, tenant } = await asOperator();
    const name = await named(tenant);
    await page.reload();
    await page.getByRole('button', { name: `Actions for ${name}` }).click();
    for (const action of ['Suspend…', 'Delete…']) {
      const item = page.getByRole('menuitem', { name: action });
      await expect
        .poll(() => item.getAttribute('title'))
        .toBe('An operator cannot suspend or delete its own account.');
      await item.click({ force: true });
    }
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
  });
});
