import type { ErrorCode } from '../../errors/errors.ts';
import {
  CancelResponse,
  DeleteResponse,
  ReadResponse,
  Respond,
  RespondInSession,
  RespondInSessionStream,
  RespondStream,
  ResponseEvents,
} from '../../generated/operations/openai.ts';
import { type AnswerHeader, eitherRoute, route } from '../rest/route.ts';
import { anyQuery, noParams, runHeaders } from './openai-wire.ts';
import { RESPONSE, STORED_RESPONSE } from './response-encoder.ts';
import { toWireResponse } from './response-reply.ts';
import { isStateless, toResponse, toSingleResponse } from './response-request.ts';
import {
  deletedResponse,
  response,
  responseBody,
  responseParams,
  responseQuery,
} from './response-wire.ts';

const ANSWER_HEADERS: AnswerHeader[] = ['X-Run-Id', 'Idempotency-Replayed'];

/** Error codes of a new response. */
const ERRORS = [
  'bot_access_denied',
  'model_not_found',
  'run_not_found',
  'unsupported_content',
  'unsupported_parameter',
  'idempotency_conflict',
  'session_busy',
  'model_error',
  'model_timeout',
  'content_filtered',
] satisfies ErrorCode[];

const RESPONSES = {
  method: 'POST',
  path: '/responses',
  id: 'createResponse',
  tag: 'OpenAI',
  summary: 'Create a response',
  description:
    'Sends a message or items to a bot. The response begins a conversation, or continues the one of ' +
    '`previous_response_id` or `conversation`. With `store: false` it is outside of any conversation; with `background` the ' +
    'run is queued, also outside of any.',
  scope: 'CHAT',
  errors: ERRORS,
  answerHeaders: ANSWER_HEADERS,
  ignoresTypos: true,
  input: { params: noParams, query: anyQuery, headers: runHeaders, body: responseBody },
} as const;

const FOLLOWERS = ['CHAT', 'RUNS'] as const;

/** The routes of responses. Source: OpenAI's API reference, "Responses". */
export const responseRoutes = [
  eitherRoute(
    route({
      ...RESPONSES,
      toVariables: toResponse,
      json: {
        operation: RespondInSession,
        schema: response,
        reply: ({ chat }, asked) => toWireResponse(chat.run, asked),
      },
      stream: { form: RESPONSE, operation: RespondInSessionStream },
    }),
    route({
      ...RESPONSES,
      toVariables: toSingleResponse,
      json: {
        operation: Respond,
        schema: response,
        reply: ({ run }, asked) => toWireResponse(run, asked),
      },
      stream: { form: RESPONSE, operation: RespondStream },
    }),
    isStateless,
  ),
  route({
    method: 'GET',
    path: '/responses/:response_id',
    id: 'getResponse',
    tag: 'OpenAI',
    summary: 'Retrieve a response',
    description:
      'Returns a response in its current state. With `stream=true` it streams the events of the response: from the first, or ' +
      'after `starting_after`.',
    scope: FOLLOWERS,
    errors: ['run_not_found'],
    input: { params: responseParams, query: responseQuery },
    toVariables: ({ params, query: { stream, starting_after } }) => ({
      variables: { runId: params.response_id },
      stream: stream === 'true',
      asked: { startingAfter: starting_after },
    }),
    json: {
      operation: ReadResponse,
      schema: response,
      reply: ({ run }) => toWireResponse(run),
    },
    stream: { form: STORED_RESPONSE, operation: ResponseEvents },
  }),
  route({
    method: 'DELETE',
    path: '/responses/:response_id',
    id: 'deleteResponse',
    tag: 'OpenAI',
    summary: 'Delete a response',
    description:
      'Deletes the last response of a conversation: its messages, and the texts of its run. An earlier one is `not_last`.',
    scope: 'CHAT',
    errors: ['run_not_found', 'not_last', 'session_busy'],
    emptyBody: true,
    input: { params: responseParams, query: anyQuery },
    toVariables: ({ params: { response_id: id } }) => ({ variables: { runId: id }, asked: id }),
    json: {
      operation: DeleteResponse,
      schema: deletedResponse,
      reply: ({ deleted }, id) => ({ id, object: 'response' as const, deleted: deleted ?? false }),
    },
  }),
  route({
    method: 'POST',
    path: '/responses/:response_id/cancel',
    id: 'cancelResponse',
    tag: 'OpenAI',
    summary: 'Cancel a response',
    description:
      'Cancels a queued or running response and returns it. One that has ended is returned as it is.',
    scope: FOLLOWERS,
    errors: ['run_not_found'],
    emptyBody: true,
    input: { params: responseParams, query: anyQuery },
    toVariables: ({ params }) => ({ variables: { runId: params.response_id } }),
    json: {
      operation: CancelResponse,
      schema: response,
      reply: ({ run }) => toWireResponse(run),
    },
  }),
];
