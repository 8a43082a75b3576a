import type { GatewayError } from '../../errors/errors.ts';
import type {
  ResponseEventFragment,
  ResponseEventsSubscription,
} from '../../generated/operations/openai.ts';
import { openaiError } from '../openai-error.ts';
import {
  failureOf,
  type StreamEncoder,
  type StreamForm,
  type StreamOrigin,
} from '../rest/stream-form.ts';
import { toUnixTime } from './model-wire.ts';
import {
  incompleteReason,
  messageId,
  modelOf,
  type ResponseFacts,
  responseOf,
  toMessage,
  toOutputText,
  toResponseUsage,
} from './response-reply.ts';
import type { AskedResponse } from './response-request.ts';
import { responseEvent } from './response-wire.ts';

/** A new response as events. Source: OpenAI's API reference, "Streaming events". */
export const RESPONSE: StreamForm<ResponseEventFragment> = {
  name: 'response',
  frame: responseEvent,
  createEncoder: createResponseEncoder,
};

/** The events of a stored response. */
export const STORED_RESPONSE: StreamForm<ResponseEventsSubscription['event']> = {
  ...RESPONSE,
  isReading: true,
};

/** The events have numbers that only depend on the events of the run, so that a client can resume from each of them. */
function createResponseEncoder({ requestId, ...origin }: StreamOrigin) {
  const asked = origin.asked as AskedResponse;
  let next = 0;
  let text = '';
  let isInMessage = false;
  let facts: ResponseFacts = {
    id: '',
    created_at: 0,
    status: 'in_progress',
    model: asked.model ?? '',
    output: [],
    error: null,
    incomplete_details: null,
    conversation: null,
    previous_response_id: asked.previous ?? null,
    usage: null,
  };

  const event = (type: string, members: object) => {
    const sequence_number = next;
    next += 1;
    if (sequence_number <= (asked.startingAfter ?? -1)) return '';
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...members })}\n\n`;
  };
  const whole = (type: string) => event(type, { response: responseOf(facts) });
  const place = () => ({ item_id: messageId(facts.id), output_index: 0, content_index: 0 });

  const beginMessage = () => {
    if (isInMessage) return '';
    isInMessage = true;
    const item = { ...toMessage(facts.id, '', true), status: 'in_progress', content: [] };
    return (
      event('response.output_item.added', { output_index: 0, item }) +
      event('response.content_part.added', { ...place(), part: toOutputText('') })
    );
  };

  const endMessage = (isComplete: boolean) => {
    const item = toMessage(facts.id, text, isComplete);
    facts = { ...facts, output: [item] };
    return (
      beginMessage() +
      event('response.output_text.done', { ...place(), text, logprobs: [] }) +
      event('response.content_part.done', { ...place(), part: toOutputText(text) }) +
      event('response.output_item.done', { output_index: 0, item })
    );
  };

  const failed = ({ code, message }: GatewayError) => {
    facts = { ...facts, status: 'failed', error: { code, message } };
    return whole('response.failed');
  };

  const encoder: StreamEncoder<ResponseEventFragment | ResponseEventsSubscription['event']> = {
    encode(happened) {
      switch (happened.type) {
        case 'RunStarted': {
          const { runId: id, sessionId, at } = happened;
          text = '';
          facts = {
            ...facts,
            id,
            ...('run' in happened && { model: modelOf(happened.run) }),
            created_at: toUnixTime(at ?? new Date()),
            conversation: sessionId === null ? null : { id: sessionId },
          };
          return (next === 0 ? whole('response.created') : '') + whole('response.in_progress');
        }
        case 'TextDelta': {
          const { delta } = happened;
          text += delta;
          const members = { ...place(), delta, logprobs: [] };
          return beginMessage() + event('response.output_text.delta', members);
        }
        case 'ChatDone': {
          const reason = incompleteReason(happened.end);
          const ended = endMessage(!reason);
          const usage = toResponseUsage(happened.end);
          if (!reason) {
            facts = { ...facts, status: 'completed', usage };
            return ended + whole('response.completed');
          }
          facts = { ...facts, status: 'incomplete', incomplete_details: { reason }, usage };
          return ended + whole('response.incomplete');
        }
        case 'ChatCancelled': {
          const ended = isInMessage ? endMessage(false) : '';
          facts = { ...facts, status: 'cancelled' };
          return ended + whole('response.incomplete');
        }
        case 'ChatFailed':
          return next > 0 ? failed(failureOf(happened)) : failureOf(happened);
        default:
          return '';
      }
    },

    fail(error, _latencyMs, terminal) {
      if (terminal) return failed(error);
      const { code, message, param } = openaiError(error, requestId).body.error;
      return event('error', { code, message, param });
    },
  };
  return encoder;
}
