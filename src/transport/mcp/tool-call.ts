import {
  type CallToolRequestParams,
  type CallToolResult,
  type ProgressNotificationParams,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { GatewayError, invalidInput, problemsOf, readErrorCode } from '../../errors/errors.ts';
import { toGatewayError } from '../../errors/mask.ts';
import { Chat, type ChatMutationVariables, ToolProgress } from '../../generated/operations/rest.ts';
import { chatMessage, sessionId } from '../../text/input.ts';
import { type JsonObject, jsonObject } from '../../text/json.ts';
import { logInternal } from '../error-mask.ts';
import { refusalIn } from '../reading.ts';
import { type Exchange, hasBot } from './exchange.ts';
import { createProgress } from './progress.ts';

/** Sends a notification about the progress of this call. */
type Notify = (params: ProgressNotificationParams) => Promise<void>;

const input = z.strictObject(
  {
    message: chatMessage,
    session_id: sessionId.optional(),
    context: jsonObject.optional(),
  },
  {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys'
        ? `unknown ${keys}; the arguments are message, session_id, context`
        : 'must be an object',
  },
);

type Reply = { response: string; output?: JsonObject | null; sessionId: string; runId: string };

/**
 * Sends the message of a call to the bot of its name. An error of the run, or of the arguments, is a result, so that the
 * model of the client reads it.
 *
 * @throws ProtocolError if the connection has no deployed bot of this name.
 */
export async function callTool(
  exchange: Exchange,
  { name, arguments: given, _meta }: CallToolRequestParams,
  notify: Notify,
): Promise<CallToolResult> {
  const { context } = exchange;
  await assertTool(exchange, name);
  const { data, error } = input.safeParse(given ?? {});
  if (error) return failed(invalidInput(problemsOf(error)));
  const { message, session_id, context: facts } = data;
  const variables = { botId: name, input: { message, sessionId: session_id, context: facts } };
  const token = _meta?.progressToken;
  try {
    if (token === undefined) return done(await chat(exchange, variables));
    return await follow(exchange, variables, (progress) =>
      notify({ progressToken: token, ...progress }),
    );
  } catch (thrown) {
    const failure = refusalIn(context.signal) ?? toGatewayError(thrown);
    logInternal(exchange.log, failure);
    if (failure.code === 'bot_not_deployed') throw unknownTool(name);
    return failed(failure);
  }
}

/** @throws ProtocolError if the key or the connection has no access to the bot. An unknown bot is no other case. */
async function assertTool(exchange: Exchange, name: string): Promise<void> {
  if (!hasBot(exchange, name)) throw unknownTool(name);
  try {
    await exchange.context.authorizeBot(name);
  } catch (error) {
    const { code } = toGatewayError(error);
    if (code === 'bot_not_found' || code === 'bot_access_denied') throw unknownTool(name);
    throw error;
  }
}

function unknownTool(name: string): ProtocolError {
  const message = `Unknown tool: "${name.slice(0, 64)}". tools/list has the tools of this key.`;
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message.toWellFormed());
}

async function chat(
  { engine, context }: Exchange,
  variables: ChatMutationVariables,
): Promise<Reply> {
  return (await engine.execute(Chat, variables, context)).chat;
}

/** Runs a chat, and reports its text while it grows. */
async function follow(
  { engine, context, response }: Exchange,
  variables: ChatMutationVariables,
  report: (progress: { progress: number; message: string }) => Promise<void>,
): Promise<CallToolResult> {
  const progress = createProgress();
  let runId = '';
  let sessionId = '';
  for await (const { event } of await engine.subscribe(ToolProgress, variables, context)) {
    switch (event.type) {
      case 'RunStarted':
        runId = event.runId;
        sessionId = event.sessionId ?? '';
        break;
      case 'TextDelta': {
        const text = progress.add(event.delta);
        if (text === undefined || response.writableNeedDrain) break;
        await report({ progress: text.length, message: text });
        break;
      }
      case 'ChatDone':
        return done({ response: progress.text(), output: event.output, sessionId, runId });
      case 'ChatFailed':
        return failed(new GatewayError(readErrorCode(event.code), event.message, { runId }));
      case 'ChatCancelled':
        return failed(new GatewayError('internal_error', 'The run was cancelled.', { runId }));
    }
  }
  const unknown = new GatewayError('internal_error', 'The outcome of the run is not known.', {
    runId,
  });
  return failed(refusalIn(context.signal) ?? unknown);
}

function done({ response, output, sessionId: session_id, runId: run_id }: Reply): CallToolResult {
  return {
    content: [
      { type: 'text', text: response },
      // For models that see only the texts: they need the session to continue the conversation.
      { type: 'text', text: JSON.stringify({ session_id, run_id }) },
    ],
    structuredContent: { response, session_id, run_id, ...(output && { output }) },
  };
}

function failed({ code, message, runId, retryAfter }: GatewayError): CallToolResult {
  const run = runId ? ` The run is ${runId}.` : '';
  return {
    isError: true,
    content: [{ type: 'text', text: `${code}: ${message}${run}` }],
    _meta: {
      'parley/code': code,
      ...(runId && { 'parley/run_id': runId }),
      ...(retryAfter && { 'parley/retry_after': retryAfter }),
    },
  };
}
