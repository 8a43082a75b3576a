/** The data that the server wrote into the page. */
export type Page = {
  /** The id of the bot. */
  bot: string;
  title: string;
  /** The colour of the page, as `#rrggbb`. */
  accent?: string | undefined;
  /** The address of the logo. */
  logo?: string | undefined;
  welcome?: string | undefined;
  suggestions: string[];
};

const { bot = '', page: written = '{}' } = document.getElementById('root')?.dataset ?? {};

export const page: Page = { bot, title: '', suggestions: [], ...JSON.parse(written) };
