import type { ServerCheck } from '../coordination/server-state.ts';
import { findRetirement } from '../language/retirements.ts';
import { findShutdownDate } from '../model/check/listed-model.ts';
import { isUsable, type ModelCheck, type ModelCheckName } from '../model/check/model-check.ts';
import { testModel } from '../model/check/test-model.ts';
import { CONFIGURE_SERVER, OPERATORS_SERVER } from '../model/check/tested-server.ts';
import type { Config } from './config.ts';
import { modelOf } from './configured-model.ts';

const NAMES: Record<ModelCheckName, string> = {
  REACHABLE: 'Model server',
  API_KEY: 'Model: key',
  MODEL: 'Model: name',
  STREAMING: 'Model: stream',
  TOOLS: 'Model: tools',
  JSON_OUTPUT: 'Model: JSON',
  USAGE: 'Model: usage',
  PARAMETERS: 'Model: settings',
};

/** Tests the operator's model server with a short question. */
export async function checkModelServer(
  config: Config,
  listLimitMs: number,
): Promise<ServerCheck[]> {
  const model = modelOf(config);
  const { server } = model;
  if (config.model === undefined || server === undefined) {
    const message = 'the offline model, which only repeats messages';
    return [{ name: NAMES.REACHABLE, status: 'warning', message, advice: CONFIGURE_SERVER }];
  }
  const tested = { ...OPERATORS_SERVER, name: server.host, hasKey: server.hasKey };
  const { name } = config.model;
  const [checks, date] = await Promise.all([
    testModel(model, { server: tested }, new AbortController().signal),
    findShutdownDate(config.model, name, listLimitMs),
  ]);
  const failed = isUsable(checks) ? 'warning' : 'failed';
  return [...checks.flatMap((check) => resultOf(check, failed)), ...endOf(name, date)];
}

/** @param failed how a failed check counts. */
function resultOf(
  { name, status, message, advice }: ModelCheck,
  failed: ServerCheck['status'],
): ServerCheck[] {
  if (status === 'SKIPPED') return [];
  const text = message.replace(/\.$/, '');
  const result: ServerCheck = {
    name: NAMES[name],
    status: status === 'PASSED' ? 'ok' : failed,
    message: text,
  };
  return [advice ? { ...result, advice } : result];
}

/** @param date the end as the server announces it. */
function endOf(name: string, date: string | undefined): ServerCheck[] {
  const known = findRetirement(name);
  const end = date ?? known?.date;
  if (end === undefined) return [];
  const message = `the provider turns off "${name}" on ${end}`;
  const advice = `Set OPENAI_MODEL to ${known?.successor ?? 'another model'} before that day, and check the definitions that name this model.`;
  return [{ name: 'Model: end', status: 'warning', message, advice }];
}
