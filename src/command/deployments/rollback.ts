import { DeploymentSource } from '../../generated/operations/command.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { type Connection, connect } from '../server/connection.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { localTime } from '../terminal/units.ts';
import { assertCanConfirm, confirmChange } from './confirm-change.ts';
import { readActive } from './deploy.ts';
import { printOutcome, readOutcome } from './outcome.ts';

type RollbackOptions = {
  bot: string | undefined;
  /** The environment of the list that is offered without an ID. */
  environment: EnvironmentName;
  message: string | undefined;
  yes: boolean;
};

/** Deployments that are offered without an ID. */
const OFFERED = 20;

/** Deploys an earlier deployment again, with its variables. Without an ID, it offers the latest ones. */
export async function rollback(
  given: string | undefined,
  options: RollbackOptions,
  context: Context,
): Promise<void> {
  if (given === undefined && !context.terminal.canAsk)
    throw new UsageError(
      'parley rollback needs the ID of a deployment without a terminal. List them: parley deployments.',
    );
  assertCanConfirm('rollback', options.yes, context);
  const connection = await connect(context);
  const botId = connection.botId(options.bot);
  const id = given ?? (await choose(botId, options.environment, connection, context));
  const target = await readTarget(id, botId, connection, context);
  const active = await readActive(botId, target.environment, connection, context);
  await confirmChange(
    {
      before: active?.source,
      after: target.source,
      question: `Roll ${botId} (${target.environment}) back to ${id}?`,
    },
    options.yes,
    context,
  );
  const { deploymentId } = await connection.forBot(botId, () =>
    connection.parley.rollback(botId, id, { message: options.message }),
  );
  const ids = { deploymentId, botId, environment: target.environment };
  const outcome = await readOutcome(ids, id, connection, context);
  const source = { name: id, text: target.source };
  await printOutcome(outcome, source, context, `Rolled back to ${id} as`);
}

async function choose(
  botId: string,
  environment: EnvironmentName,
  { parley, forBot }: Connection,
  { terminal }: Context,
): Promise<string> {
  const filter = { environment, status: 'deployed' as const, limit: OFFERED };
  const { data } = await forBot(botId, () => parley.deployments(botId, filter).page());
  const earlier = data.filter(({ active }) => !active);
  if (earlier.length === 0)
    throw new Refusal(`${botId} (${environment}) has no earlier deployment to roll back to.`);
  const { select } = await openPrompts(terminal);
  return select(
    'Roll back to which deployment?',
    earlier.map(({ deploymentId, deployedAt, message }) => ({
      value: deploymentId,
      label: `${localTime(deployedAt)}  ${deploymentId}`,
      hint: message ?? '',
    })),
  );
}

/** @throws Refusal if the bot has no such deployment. */
export async function readTarget(
  id: string,
  botId: string,
  { graphql }: Connection,
  { signal }: Context,
): Promise<{ source: string; environment: EnvironmentName }> {
  const { node } = await graphql.run(DeploymentSource, { id }, signal);
  if (!node || !('source' in node) || node.bot.id !== botId)
    throw new Refusal(
      `${botId} has no deployment "${id}". List them: parley deployments --bot ${botId}`,
    );
  return {
    source: node.source,
    environment: toLowerCase(node.environment),
  };
}
