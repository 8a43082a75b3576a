import type { BrowserContextOptions } from 'playwright-core';
import type { Tenant, TestApp } from '../helpers/app.ts';
import { type ConsolePage, openPage } from './page.ts';

/** Visits to the console of an app, each in a separate browser context. */
export type Visits = {
  /** Opens an empty page. @param url another address of the app, such as that of a proxy. */
  open(url?: string, options?: BrowserContextOptions): Promise<ConsolePage>;
  /** Opens a view and signs in with a key. */
  signedIn(key: string, path?: string, url?: string): Promise<ConsolePage>;
  /** Ends every session of an account, as a sign-out in another browser does. */
  endSessions(tenant: Tenant): Promise<unknown>;
};

/** Visits to the app of a test file. */
export function createVisits(app: () => TestApp): Visits {
  const open: Visits['open'] = async (url = app().url, options = {}) => {
    const opened = await openPage(url, options);
    opened.page.setDefaultTimeout(60_000);
    return opened;
  };

  return {
    open,
    async signedIn(key, path = '/bots', url) {
      const opened = await open(url);
      const { page } = opened;
      await page.goto(path);
      await page.getByLabel('API key').fill(key);
      await page.keyboard.press('Enter');
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      return opened;
    },
    endSessions: ({ accountId }) =>
      app().prisma.consoleSession.deleteMany({ where: { key: { accountId } } }),
  };
}
