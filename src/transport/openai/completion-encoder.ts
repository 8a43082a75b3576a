import { GatewayError } from '../../errors/errors.ts';
import type { CompletionEventFragment } from '../../generated/operations/openai.ts';
import { openaiError } from '../openai-error.ts';
import { failureOf, type StreamForm, type StreamOrigin } from '../rest/stream-form.ts';
import { type AskedCompletion, toFinishReason, toUsage } from './completion-request.ts';
import { type CompletionChunk, completionChunk } from './completion-wire.ts';
import { toUnixTime } from './model-wire.ts';

/**
 * A completion as chunks: one with the role, chunks with text, one with the reason of the end, with `include_usage` one
 * with the usage, and `[DONE]`. An error ends the stream without it. Source: OpenAI's API reference, "Streaming".
 */
export const COMPLETION: StreamForm<CompletionEventFragment> = {
  name: 'completion',
  frame: completionChunk,
  createEncoder: ({ requestId, asked }: StreamOrigin) => {
    const { model, includesUsage } = asked as AskedCompletion;
    let id = '';
    let created = 0;
    let hasText = false;

    const chunk = (rest: Pick<CompletionChunk, 'choices'> & Partial<CompletionChunk>) => {
      const facts = { id, object: 'chat.completion.chunk' as const, created, model };
      const data: CompletionChunk = { ...facts, ...(includesUsage && { usage: null }), ...rest };
      return `data: ${JSON.stringify(data)}\n\n`;
    };
    type Choice = CompletionChunk['choices'][number];
    const choice = (delta: Choice['delta'], finish_reason: Choice['finish_reason'] = null) => [
      { index: 0 as const, delta, logprobs: null, finish_reason },
    ];
    /** The first chunk is sent with the first text, so that an error before it is an ordinary response. */
    const role = () => {
      if (hasText) return '';
      hasText = true;
      return chunk({ choices: choice({ role: 'assistant', content: '' }) });
    };

    return {
      encode(event) {
        switch (event.type) {
          case 'RunStarted':
            id = event.runId;
            created = toUnixTime(event.at ?? new Date());
            return '';
          case 'TextDelta':
            return role() + chunk({ choices: choice({ content: event.delta }) });
          case 'ChatDone': {
            const { end } = event;
            const system_fingerprint = end.deploymentId ?? '';
            const last = { choices: choice({}, toFinishReason(end)), system_fingerprint };
            const usage = { choices: [], usage: toUsage(end), system_fingerprint };
            return `${role()}${chunk(last)}${includesUsage ? chunk(usage) : ''}data: [DONE]\n\n`;
          }
          case 'ChatCancelled':
            return new GatewayError('internal_error', 'The run was cancelled.');
          case 'ChatFailed':
            return failureOf(event);
          default:
            return '';
        }
      },
      fail: (error) => `data: ${JSON.stringify(openaiError(error, requestId).body)}\n\n`,
    };
  },
};
