import { NotFoundError, Parley, ParleyError } from '../../client/index.ts';
import { BotNames, FindRun } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { didYouMean } from '../line/nearest.ts';
import { createGraphQL, type GraphQL } from './graphql.ts';
import { createFetch } from './requests.ts';
import { findTarget, type Target } from './target.ts';

/** The largest page of the schema. */
const MAX_NAMES = 100;

/** The server of a command, by REST and by GraphQL. */
export type Connection = {
  target: Target;
  parley: Parley;
  graphql: GraphQL;
  fetch: typeof fetch;
  /** The bot of `--bot` or of the profile. @throws UsageError if neither names one. */
  botId(given: string | undefined): string;
  /**
   * Calls the server about a bot.
   *
   * @throws Refusal with the nearest bot that the key may see, if the bot does not exist.
   */
  forBot<Result>(botId: string, call: () => Promise<Result>): Promise<Result>;
  /** The bot of a run. @throws Refusal if the key sees no such run. */
  botOfRun(runId: string): Promise<string>;
};

export async function connect(context: Context): Promise<Connection> {
  return connectTo(await findTarget(context), context);
}

export function connectTo(target: Target, context: Context): Connection {
  const { signal, version } = context;
  const { url, apiKey } = target;
  const fetcher = createFetch(context);
  const parley = new Parley({ apiKey, baseUrl: url, signal, fetch: fetcher });
  const graphql = createGraphQL({ url, apiKey, version, fetch: fetcher });

  async function unknownBot(botId: string, cause: unknown): Promise<Refusal> {
    const known = await graphql.run(BotNames, { first: MAX_NAMES }, signal).catch(() => undefined);
    const ids = known?.bots.edges.map(({ node }) => node.id) ?? [];
    const list = ids.length > 0 && ids.length <= 5 ? ` The key sees ${ids.join(', ')}.` : '';
    const hint =
      didYouMean(botId, ids) ||
      `${list || ' Run parley bots for the list.'} Create it: parley bots create ${botId}`;
    return new Refusal(`There is no bot "${botId}" that the key may use.${hint}`, { cause });
  }

  return {
    target,
    parley,
    graphql,
    fetch: fetcher,
    botId(given) {
      const botId = given ?? target.bot;
      if (botId === undefined)
        throw new UsageError('No bot is named. Add --bot ID, or set a default: parley use ID.');
      return botId;
    },
    async forBot(botId, call) {
      try {
        return await call();
      } catch (error) {
        if (!(error instanceof ParleyError)) throw error;
        const isUnknown = error.code === 'bot_not_found' || error.code === 'bot_access_denied';
        throw isUnknown ? await unknownBot(botId, error) : error;
      }
    },
    async botOfRun(runId) {
      const found = await graphql.run(FindRun, { id: runId }, signal).catch((error: unknown) => {
        if (error instanceof ParleyError && error.code === 'run_not_found') return undefined;
        throw error;
      });
      if (found?.run) return found.run.bot.id;
      throw new Refusal(
        `There is no run "${runId}" that the key may read. List runs: parley runs.`,
        {
          cause: new NotFoundError({ message: 'run', code: 'run_not_found' }),
        },
      );
    },
  };
}
