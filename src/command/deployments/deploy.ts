import { DeployError } from '../../client/index.ts';
import { ActiveDeployment } from '../../generated/operations/command.ts';
import { readDefinition } from '../../language/read.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { codeFrames, type Problem } from '../definitions/code-frame.ts';
import { readSourceFile, type SourceFile, STDIN } from '../definitions/source-file.ts';
import { Refusal, UsageError } from '../errors.ts';
import { type Connection, connect } from '../server/connection.ts';
import { assertCanConfirm, confirmChange } from './confirm-change.ts';
import { printOutcome, readOutcome } from './outcome.ts';
import { readVariables, type VariableOptions } from './variables.ts';

export type DeployOptions = VariableOptions & {
  bot: string | undefined;
  environment: EnvironmentName;
  message: string | undefined;
  /** Whether the deployment becomes active without the gate of the bot. */
  skipGate: boolean;
  yes: boolean;
  /** Names of variables to remove. */
  unset: readonly string[];
};

/** Deploys a file, after it showed the difference to what runs. A definition with mistakes is not sent. */
export async function deploy(path: string, options: DeployOptions, context: Context) {
  assertCanConfirm('deploy', options.yes, context);
  assertReason(options);
  if (path === STDIN && (!options.yes || options.varsFile === STDIN))
    throw new UsageError('stdin holds the definition, so nothing can be asked. Add --yes.');
  const source = await readSourceFile(path, context.terminal.stdin);
  await assertValid(source, context);
  const variables = await readVariables(options, context);
  const connection = await connect(context);
  const botId = connection.botId(options.bot);
  const { environment } = options;
  const active = await readActive(botId, environment, connection, context);
  await confirmChange(
    {
      before: active?.source,
      after: source.text,
      variables: Object.keys(variables),
      question: `Deploy ${source.name} to ${botId} (${environment})?`,
    },
    options.yes,
    context,
  );
  context.terminal.progress('Deploying…');
  const outcome = await send(source, variables, { ...options, botId }, connection, context);
  await printOutcome(outcome, source, context);
}

/** @throws UsageError if the gate is skipped without a reason. */
export function assertReason({ skipGate, message }: Pick<DeployOptions, 'skipGate' | 'message'>) {
  if (skipGate && !message?.trim())
    throw new UsageError('--skip-gate needs a reason: add --message "…".');
}

/** @throws Refusal after printing every mistake with its line. */
async function assertValid(source: SourceFile, context: Context): Promise<void> {
  const { definition, diagnostics } = readDefinition(source.text);
  if (definition === null) await refuse(source, diagnostics, context);
}

export async function readActive(
  botId: string,
  environment: EnvironmentName,
  { graphql, forBot }: Connection,
  { signal }: Context,
) {
  const variables = { botId, environment: toUpperCase(environment) };
  const { bot } = await forBot(botId, () => graphql.run(ActiveDeployment, variables, signal));
  return bot?.activeDeployment ?? undefined;
}

type Sent = Pick<DeployOptions, 'environment' | 'message' | 'skipGate' | 'unset'> & {
  botId: string;
};

async function send(
  source: SourceFile,
  variables: Record<string, string>,
  { botId, environment, message, skipGate, unset }: Sent,
  connection: Connection,
  context: Context,
) {
  const removed = Object.fromEntries(unset.map((name) => [name, null]));
  const envVars = { ...removed, ...variables };
  const gate = skipGate ? { skipGate } : {};
  const input = { source: source.text, environment, message, envVars, ...gate };
  try {
    const { deploymentId } = await connection.forBot(botId, () =>
      connection.parley.deploy(botId, input),
    );
    return await readOutcome(
      { deploymentId, botId, environment },
      source.name,
      connection,
      context,
    );
  } catch (error) {
    if (!(error instanceof DeployError)) throw error;
    const problems = error.diagnostics.map((one) => ({ ...one, severity: 'ERROR' as const }));
    return refuse(source, problems, context);
  }
}

async function refuse(
  source: SourceFile,
  diagnostics: readonly Problem[],
  { terminal, json, print }: Context,
): Promise<never> {
  if (json) await print({ status: 'failed', diagnostics }, () => '');
  else terminal.note(codeFrames(source, diagnostics, terminal.errorStyle));
  const errors = diagnostics.filter(({ severity }) => severity === 'ERROR').length;
  const mistakes = errors === 1 ? '1 mistake' : `${errors} mistakes`;
  throw new Refusal(`${source.name} has ${mistakes}. Nothing was deployed.`);
}
