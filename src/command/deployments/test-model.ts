import { TestModel, type TestModelMutation } from '../../generated/operations/command.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import { type Check, printChecks } from '../checks.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { oneLine } from '../terminal/text-table.ts';

type ModelCheck = NonNullable<TestModelMutation['testModel']>['checks'][number];

const NAMES: Record<ModelCheck['name'], string> = {
  REACHABLE: 'Model server',
  API_KEY: 'Key',
  MODEL: 'Name',
  STREAMING: 'Stream',
  TOOLS: 'Tools',
  JSON_OUTPUT: 'JSON',
  USAGE: 'Usage',
  PARAMETERS: 'Settings',
};

/** Lets the server test the model of a bot's active deployment, and prints what works. */
export async function testModel(
  botId: string,
  environment: EnvironmentName,
  context: Context,
): Promise<void> {
  const { graphql, forBot } = await connect(context);
  const variables = { botId, environment: toUpperCase(environment) };
  const { testModel: test } = await forBot(botId, () =>
    graphql.run(TestModel, variables, context.signal),
  );
  if (!test) throw new Refusal('The server returned no result.');
  context.terminal.progress(`The model "${oneLine(test.model)}" of ${botId}:`);
  const failed = test.usable ? 'warning' : 'failed';
  await printChecks(
    test.checks.flatMap((check) => resultOf(check, failed)),
    context,
  );
}

/** @param failed how a failed check counts. */
function resultOf({ name, status, message, advice }: ModelCheck, failed: Check['status']): Check[] {
  if (status === 'SKIPPED') return [];
  const result = {
    name: NAMES[name],
    status: status === 'PASSED' ? 'ok' : failed,
    message,
  } as const;
  return [advice ? { ...result, advice } : result];
}
