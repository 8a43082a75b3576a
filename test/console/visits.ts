import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Tenant, TestApp } from '../helpers/app.ts';
import { openBlankPage } from '../helpers/browser.ts';
import { signIn } from '../helpers/console.ts';

/** Visits to the console of an app, each in a separate browser context that is checked at the end of the test. */
export type Visits = {
  /** Opens an empty page. @param url another address of the app, such as a proxy's. */
  open(url?: string, options?: BrowserContextOptions): Promise<Page>;
  /** Opens a view with a session of a key. */
  signedIn(
    key: string,
    path?: string,
    url?: string,
    options?: BrowserContextOptions,
  ): Promise<Page>;
  /** Ends every session of an account, as a sign-out in another browser does. */
  endSessions(tenant: Tenant): Promise<unknown>;
};

/** Visits to the app of a test file. */
export function createVisits(app: () => TestApp): Visits {
  const open: Visits['open'] = (url = app().url, options = {}) =>
    openBlankPage({ baseURL: url, ...options });

  return {
    open,
    // Without the form, whose requests without a key the server limits to a few in a minute.
    async signedIn(key, path = '/bots', url = app().url, options = {}) {
      const page = await open(url, options);
      const [name = '', value = ''] = (await signIn({ url }, key)).split('=');
      await page.context().addCookies([{ name, value, url, httpOnly: true, sameSite: 'Strict' }]);
      await page.goto(path);
      await page.getByRole('navigation', { name: 'Main' }).waitFor();
      return page;
    },
    endSessions: ({ accountId }) =>
      app().prisma.consoleSession.deleteMany({ where: { key: { accountId } } }),
  };
}
