import {
  type ReadResourceResult,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server';
import { toGatewayError } from '../../errors/mask.ts';
import { ReadRun } from '../../generated/operations/rest.ts';
import { toRunReply } from '../rest/runs.ts';
import { type Exchange, hasBot } from './exchange.ts';

const MIME_TYPE = 'application/json';

/** The only resources: the runs of a bot, each by its URI. */
export const RUN_TEMPLATE: ResourceTemplateType = {
  uriTemplate: 'parley://bots/{id}/runs/{run_id}',
  name: 'run',
  title: 'Run',
  description:
    'A run with its messages, tool calls and trace, as the REST API returns it. Requires the scope RUNS.',
  mimeType: MIME_TYPE,
};

const RUN_URI = /^parley:\/\/bots\/([\w-]{1,64})\/runs\/(run_\w{1,60})$/;

/** Reads a run. @throws ResourceNotFoundError if the connection has no such run; GatewayError `insufficient_scope` */
export async function readRun(exchange: Exchange, uri: string): Promise<ReadResourceResult> {
  const [, botId, runId] = RUN_URI.exec(uri) ?? [];
  if (botId === undefined || runId === undefined || !hasBot(exchange, botId)) throw notFound(uri);
  const { engine, context } = exchange;
  try {
    const { run } = await engine.execute(ReadRun, { botId, runId }, context);
    return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(toRunReply(run)) }] };
  } catch (error) {
    if (ABSENT.has(toGatewayError(error).code)) throw notFound(uri);
    throw error;
  }
}

/** The client does not learn which bots and runs other accounts have. */
const ABSENT: ReadonlySet<string> = new Set([
  'run_not_found',
  'bot_not_found',
  'bot_access_denied',
]);

function notFound(uri: string): ResourceNotFoundError {
  return new ResourceNotFoundError(uri.slice(0, 256).toWellFormed());
}
