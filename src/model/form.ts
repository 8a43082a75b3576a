import type { Refusal } from './refusals.ts';

/** How a request is written for one model of one server. */
export type RequestForm = {
  tokenLimit: 'max_tokens' | 'max_completion_tokens';
  /** What the server refused: such members are left out, or a structured answer is requested in a simpler form. */
  refusals: readonly Refusal[];
  /** How tool calls of the history are sent in a request without tools. */
  callsWithoutTools: 'calls' | 'text';
  /** Whether the model calls tools only while it does not reason, as the newer models of OpenAI over this API. */
  toolsWithoutReasoning: boolean;
  /** `none`: the server refuses it. `always`: the server requires it on each message of the model. */
  reasoning: 'sent' | 'none' | 'always';
};

/** Only OpenAI's own servers require the newer name of the token limit. */
export function firstForm(baseUrl: string): RequestForm {
  const host = URL.parse(baseUrl)?.hostname ?? '';
  const isOpenAI = /(^|\.)openai\.(com|azure\.com)$/.test(host);
  return {
    tokenLimit: isOpenAI ? 'max_completion_tokens' : 'max_tokens',
    refusals: [],
    callsWithoutTools: 'calls',
    toolsWithoutReasoning: false,
    reasoning: 'sent',
  };
}
