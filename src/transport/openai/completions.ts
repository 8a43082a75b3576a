import type { ErrorCode } from '../../errors/errors.ts';
import {
  Complete,
  CompleteInSession,
  CompleteInSessionStream,
  CompleteStream,
} from '../../generated/operations/openai.ts';
import { type AnswerHeader, eitherRoute, route } from '../rest/route.ts';
import { COMPLETION } from './completion-encoder.ts';
import { namesSession, toCompletion, toExecution, toTurn } from './completion-request.ts';
import { completion, completionBody } from './completion-wire.ts';
import { anyQuery, noParams, runHeaders } from './openai-wire.ts';

/** Error codes of a completion. */
const ERRORS = [
  'bot_access_denied',
  'model_not_found',
  'unsupported_content',
  'unsupported_parameter',
  'idempotency_conflict',
  'session_busy',
  'model_error',
  'model_timeout',
  'content_filtered',
] satisfies ErrorCode[];

const ANSWER_HEADERS: AnswerHeader[] = ['X-Run-Id', 'Idempotency-Replayed'];

const COMPLETIONS = {
  method: 'POST',
  path: '/chat/completions',
  id: 'createChatCompletion',
  tag: 'OpenAI',
  summary: 'Create a chat completion',
  description:
    'Sends the messages to a bot and returns its reply. The run uses no session and no memory, unless the header ' +
    '`X-Session-ID` or `metadata.session_id` names a session: then only the last message is sent, as in a chat. The tools ' +
    'of the bot run on the server; their calls are in the run, not in the response.',
  scope: 'CHAT',
  errors: ERRORS,
  answerHeaders: ANSWER_HEADERS,
  ignoresTypos: true,
  input: { params: noParams, query: anyQuery, headers: runHeaders, body: completionBody },
} as const;

/** The route of chat completions. Source: OpenAI's API reference, "Chat Completions". */
export const completionRoutes = [
  eitherRoute(
    route({
      ...COMPLETIONS,
      toVariables: toExecution,
      json: {
        operation: Complete,
        schema: completion,
        reply: ({ run }, asked) => toCompletion({ ...run, runId: run.id, end: run }, asked),
      },
      stream: { form: COMPLETION, operation: CompleteStream },
    }),
    route({
      ...COMPLETIONS,
      toVariables: toTurn,
      json: {
        operation: CompleteInSession,
        schema: completion,
        reply: ({ chat }, asked) => toCompletion(chat, asked),
      },
      stream: { form: COMPLETION, operation: CompleteInSessionStream },
    }),
    namesSession,
  ),
];
