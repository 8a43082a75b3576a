import { Viewer } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import { isCompatible, serverVersion } from '../server/server-version.ts';
import { facts } from '../terminal/facts.ts';

/** Shows the server, the account and the key that commands use. */
export async function whoami(context: Context): Promise<void> {
  const { signal, version, terminal, print } = context;
  const { target, graphql, fetch: fetcher } = await connect(context);
  const { viewer } = await graphql.run(Viewer, {}, signal);
  const server = await serverVersion({ url: target.url, fetch: fetcher, signal });
  const { account, apiKey, rateLimit } = viewer;
  const value = {
    url: target.url,
    serverVersion: server ?? null,
    commandVersion: version,
    profile: target.profile ?? null,
    bot: target.bot ?? null,
    account: { id: account.id, name: account.name, plan: account.plan.toLowerCase() },
    key: {
      id: apiKey.id,
      name: apiKey.name,
      prefix: apiKey.prefix,
      scopes: apiKey.scopes.map((scope) => scope.toLowerCase()),
      bots: apiKey.bots?.map(({ id }) => id) ?? null,
      expiresAt: apiKey.expiresAt,
    },
    limits: {
      perMinute: rateLimit.perMinute,
      perDay: rateLimit.perDay,
      remainingMinute: rateLimit.remainingMinute,
      remainingDay: rateLimit.remainingDay,
    },
  };
  await print(value, () =>
    facts(
      [
        ['Server', `${target.url}, Parley ${server ?? 'of an unknown version'}`],
        ['Account', `${account.name} (${account.id}), plan ${value.account.plan}`],
        ['Key', `${apiKey.name} (${apiKey.id}), ${apiKey.prefix}…`],
        ['Key from', target.profile ? `the profile "${target.profile}"` : 'PARLEY_API_KEY'],
        ['Scopes', value.key.scopes.join(', ')],
        ['Bots', value.key.bots?.join(', ') ?? 'all bots of the account'],
        ['Expires', apiKey.expiresAt ?? 'never'],
        ['Default bot', target.bot ?? 'none; set it with parley use ID'],
        [
          'Requests left',
          `${rateLimit.remainingMinute} of ${rateLimit.perMinute} this minute, ${rateLimit.remainingDay} of ${rateLimit.perDay} today`,
        ],
      ],
      terminal.style,
    ),
  );
  if (server !== undefined && !isCompatible(version, server))
    terminal.note(
      `Warning: the server runs Parley ${server}, the command is ${version}. Use the command of that version.`,
    );
}
