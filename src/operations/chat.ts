import type { JsonObject } from '../json.ts';
import { operation } from './operation.ts';

export type ChatVariables = {
  botId: string;
  input: {
    message: string;
    sessionId?: string;
    context?: JsonObject;
    environment?: 'PRODUCTION' | 'STAGING';
  };
};

/** A whole reply. */
export const chat = operation<
  ChatVariables,
  {
    chat: {
      response: string;
      sessionId: string;
      runId: string;
      latencyMs: number;
      tokensUsed: number;
      toolsCalled: string[];
    };
  }
>(/* GraphQL */ `
  mutation Chat($botId: ID!, $input: ChatInput!) {
    chat(botId: $botId, input: $input) {
      response
      sessionId
      runId
      latencyMs
      tokensUsed
      toolsCalled
    }
  }
`);

/** The events of a run that a stream of frames is made of. */
export type StreamedEvent =
  | { type: 'RunStarted'; runId: string }
  | { type: 'TextDelta'; delta: string }
  | { type: 'ToolStarted' }
  | { type: 'ToolFinished' }
  | { type: 'ChatDone'; latencyMs: number }
  | { type: 'ChatFailed'; latencyMs: number; code: string; message: string }
  | { type: 'ChatCancelled'; latencyMs: number };

/** A reply as it is made. */
export const chatStream = operation<ChatVariables, { event: StreamedEvent }>(/* GraphQL */ `
  subscription ChatStream($botId: ID!, $input: ChatInput!) {
    event: chat(botId: $botId, input: $input) {
      type: __typename
      ... on RunStarted {
        runId
      }
      ... on TextDelta {
        delta
      }
      ... on ChatDone {
        latencyMs
      }
      ... on ChatFailed {
        latencyMs
        code
        message
      }
      ... on ChatCancelled {
        latencyMs
      }
    }
  }
`);
