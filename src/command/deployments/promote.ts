import { randomUUID } from 'node:crypto';
import { Promote } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { assertCanConfirm, confirmChange } from './confirm-change.ts';
import { assertReason, readActive } from './deploy.ts';
import { printOutcome, readOutcome } from './outcome.ts';
import { readTarget } from './rollback.ts';

type PromoteOptions = {
  bot: string | undefined;
  message: string | undefined;
  skipGate: boolean;
  yes: boolean;
};

/** Deploys a staging deployment to production. Without an ID, the active one of staging. */
export async function promote(
  given: string | undefined,
  { bot, message, skipGate, yes }: PromoteOptions,
  context: Context,
): Promise<void> {
  assertCanConfirm('promote', yes, context);
  assertReason({ skipGate, message });
  const connection = await connect(context);
  const { graphql, botId: botOf, forBot } = connection;
  const botId = botOf(bot);
  const staged = await readActive(botId, 'staging', connection, context);
  const id = given ?? staged?.id;
  if (id === undefined)
    throw new Refusal(
      `Nothing runs in the staging of ${botId}. Deploy there first: parley deploy FILE --bot ${botId} --env staging`,
    );
  const { source, environment } = await readTarget(id, botId, connection, context);
  if (environment !== 'staging')
    throw new Refusal(`${id} is no deployment to staging. parley rollback ${id} runs it again.`);
  const active = await readActive(botId, 'production', connection, context);
  const question = `Promote ${id} to the production of ${botId}?`;
  await confirmChange({ before: active?.source, after: source, question }, yes, context);
  const variables = {
    botId,
    deploymentId: id,
    message: message ?? null,
    idempotencyKey: randomUUID(),
    ...(skipGate && { skipGate }),
  };
  const { promote: promoted } = await forBot(botId, () =>
    graphql.run(Promote, variables, context.signal),
  );
  if (!promoted) throw new Refusal('The server returned no deployment.');
  const ids = { deploymentId: promoted.id, botId, environment: 'production' as const };
  const outcome = await readOutcome(ids, id, connection, context);
  await printOutcome(outcome, { name: id, text: source }, context, `Promoted ${id} as`);
}
