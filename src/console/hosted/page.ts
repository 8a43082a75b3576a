/** The data that the server wrote into the page. */
export type Page = {
  /** The id of the bot. */
  bot: string;
  /** The name of the agent. */
  name: string;
  welcome?: string;
  suggestions: string[];
};

const { bot = '', page: written = '{}' } = document.getElementById('root')?.dataset ?? {};

export const page: Page = { bot, name: '', suggestions: [], ...JSON.parse(written) };
