import type { Deployment } from '../../client/index.ts';
import type { EnvironmentName } from '../../vocabulary/environments.ts';
import type { Context } from '../context.ts';
import { connect } from '../server/connection.ts';
import { textTable } from '../terminal/text-table.ts';
import { localTime } from '../terminal/units.ts';

type ListOptions = {
  bot: string | undefined;
  environment: EnvironmentName | undefined;
  limit: number;
};

/** Lists the latest deployments of a bot, failed ones included. */
export async function listDeployments(
  { bot, environment, limit }: ListOptions,
  context: Context,
): Promise<void> {
  const { terminal, print } = context;
  const { parley, botId, forBot } = await connect(context);
  const id = botId(bot);
  const deployments = await forBot(id, async () => {
    const filter = { environment, limit: Math.min(limit, 100) };
    const all: Deployment[] = [];
    for await (const deployment of parley.deployments(id, filter)) {
      all.push(deployment);
      if (all.length >= limit) break;
    }
    return all;
  });
  await print(deployments, () =>
    deployments.length === 0
      ? `${id} has no deployments. Deploy a definition: parley deploy FILE --bot ${id}`
      : textTable(
          [
            { title: '' },
            { title: 'ID', paint: terminal.style.bold },
            { title: 'ENVIRONMENT' },
            { title: 'STATUS' },
            { title: 'ENDED' },
            { title: 'CHANNELS' },
            { title: 'MESSAGE' },
          ],
          deployments.map((one) => [
            one.active ? '*' : '',
            one.deploymentId,
            one.environment,
            one.status,
            localTime(one.endedAt) || '-',
            one.channels.join(',') || '-',
            one.message ?? (one.rolledBackTo ? `rollback to ${one.rolledBackTo}` : ''),
          ]),
          terminal,
        ),
  );
  if (deployments.some(({ active }) => active)) terminal.progress('* runs now');
}
