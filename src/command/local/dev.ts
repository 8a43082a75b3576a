import { readdir } from 'node:fs/promises';
import { DeployError } from '../../client/index.ts';
import { readDefinition } from '../../language/read.ts';
import type { Context } from '../context.ts';
import { codeFrames, type Problem } from '../definitions/code-frame.ts';
import type { SourceFile } from '../definitions/source-file.ts';
import { readOutcome } from '../deployments/outcome.ts';
import { readVariables, type VariableOptions } from '../deployments/variables.ts';
import { Refusal } from '../errors.ts';
import { describeError } from '../failure.ts';
import { type Connection, connectTo } from '../server/connection.ts';
import { profilePath, readProfiles, writeProfiles } from '../server/profiles.ts';
import { fileChanges } from './file-changes.ts';
import { startServer } from './server-process.ts';

export type DevOptions = VariableOptions & { bot: string };

/** The profile that keeps the key of a first start. */
const LOCAL_PROFILE = 'local';

/** Runs the server, and deploys a definition at each save. */
export async function dev(path: string | undefined, options: DevOptions, context: Context) {
  const file = path ?? (await onlyDefinition());
  const variables = file === undefined ? {} : await readVariables(options, context);
  const server = startServer(context);
  const { url, apiKey: newKey } = await server.ready;
  await context.emit({ type: 'listening', url }, () => '');
  const stopping = new AbortController();
  server.ended.catch(() => {}).finally(() => stopping.abort());
  try {
    if (newKey !== undefined) await storeKey(url, newKey, context);
    if (file === undefined) {
      context.terminal.note('No definition is watched. Name one: parley dev FILE.');
    } else {
      const apiKey = newKey ?? (await knownKey(url, context));
      const target = { url, apiKey, bot: options.bot, profile: undefined };
      const connection = connectTo(target, context);
      context.terminal.note(`Watching ${file}. Each save deploys it to the bot ${options.bot}.`);
      const changes = fileChanges(file, context.terminal.stdin, stopping.signal);
      for await (const change of changes)
        await deployChange(change, { bot: options.bot, variables }, connection, context);
    }
  } catch (error) {
    if (!stopping.signal.aborted) {
      server.stop();
      await server.ended.catch(() => {});
      throw error;
    }
  }
  await server.ended;
}

/** The only definition of the working directory. */
async function onlyDefinition(): Promise<string | undefined> {
  const names = (await readdir('.')).filter((name) => name.endsWith('.agent'));
  return names.length === 1 ? names[0] : undefined;
}

/** Stores the key that this start generated in a profile, because the server never shows it again. */
async function storeKey(url: string, apiKey: string, { environment, terminal }: Context) {
  const path = profilePath(environment);
  const all = await readProfiles(path);
  const others = all.profiles.filter(({ name }) => name !== LOCAL_PROFILE);
  const current = others.length === 0 ? LOCAL_PROFILE : all.current;
  const profiles = [...others, { name: LOCAL_PROFILE, url, apiKey }];
  await writeProfiles(path, { current, profiles });
  terminal.note(`The key of this server is stored in the profile "${LOCAL_PROFILE}".`);
}

/** Finds a key for the local server: the key of the environment, or the key of a profile. */
async function knownKey(url: string, { environment }: Context): Promise<string> {
  if (environment.apiKey !== undefined) return environment.apiKey;
  const all = await readProfiles(profilePath(environment));
  const known = all.profiles.find((profile) => profile.url === url);
  if (known !== undefined) return known.apiKey;
  throw new Refusal(
    `There is no key for ${url}. Set PARLEY_API_KEY, or run parley login ${url} while the server runs.`,
  );
}

type Destination = { bot: string; variables: Record<string, string> };

async function deployChange(
  change: SourceFile | Error,
  { bot, variables }: Destination,
  connection: Connection,
  context: Context,
): Promise<void> {
  const { terminal, environment, emit, signal } = context;
  const fail = (message: string) =>
    terminal.note(`${terminal.errorStyle.red('Error:')} ${message}`);
  if (change instanceof Error) return fail(change.message);
  const { definition, diagnostics } = readDefinition(change.text);
  if (definition === null) return report(change, diagnostics, context);
  try {
    const input = { source: change.text, envVars: variables };
    const { deploymentId } = await connection.forBot(bot, () =>
      connection.parley.deploy(bot, input),
    );
    const ids = { deploymentId, botId: bot, environment: 'production' as const };
    const outcome = await readOutcome(ids, change.name, connection, context);
    if (outcome.diagnostics.length > 0)
      terminal.note(codeFrames(change, outcome.diagnostics, terminal.errorStyle));
    await emit({ type: 'deployed', ...outcome }, () => `Deployed ${deploymentId} to ${bot}.\n`);
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof DeployError)) return fail(describeError(error, environment));
    const problems = error.diagnostics.map((one) => ({ ...one, severity: 'ERROR' as const }));
    await report(change, problems, context);
  }
}

async function report(
  source: SourceFile,
  diagnostics: readonly Problem[],
  { terminal, json, emit }: Context,
): Promise<void> {
  if (json) return emit({ type: 'failed', diagnostics }, () => '');
  terminal.note(codeFrames(source, diagnostics, terminal.errorStyle));
  terminal.note(`${source.name} was not deployed. Save it again to try again.`);
}
