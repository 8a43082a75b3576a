import type { JsonObject } from '../text/json.ts';
import { operation } from './operation.ts';

export type ChatVariables = {
  botId: string;
  input: {
    message: string;
    sessionId?: string;
    context?: JsonObject;
    environment?: 'PRODUCTION' | 'STAGING';
    onBusy?: 'ENQUEUE' | 'REJECT';
    onDisconnect?: 'CANCEL' | 'CONTINUE';
    idempotencyKey?: string;
  };
};

export const chat = operation<
  ChatVariables,
  {
    chat: {
      response: string;
      output: JsonObject | null;
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
      output
      sessionId
      runId
      latencyMs
      tokensUsed
      toolsCalled
    }
  }
`);

/** The run events that a streamed reply needs. */
export type StreamedEvent =
  | { type: 'RunStarted'; runId: string }
  | { type: 'TextDelta'; delta: string }
  | { type: 'ToolStarted' }
  | { type: 'ToolFinished' }
  | { type: 'ChatDone'; latencyMs: number }
  | { type: 'ChatFailed'; latencyMs: number; code: string; message: string }
  | { type: 'ChatCancelled'; latencyMs: number };

const STREAMED_EVENT = /* GraphQL */ `
  type: __typename
  ... on RunStarted { runId }
  ... on TextDelta { delta }
  ... on ChatDone { latencyMs }
  ... on ChatFailed { latencyMs code message }
  ... on ChatCancelled { latencyMs }
`;

export const chatStream = operation<ChatVariables, { event: StreamedEvent }>(/* GraphQL */ `
  subscription ChatStream($botId: ID!, $input: ChatInput!) {
    event: chat(botId: $botId, input: $input) { ${STREAMED_EVENT} }
  }
`);

export type ExecuteVariables = {
  botId: string;
  input: {
    prompt: string;
    context?: JsonObject;
    environment?: 'PRODUCTION' | 'STAGING';
    background?: boolean;
    metadata?: JsonObject;
    outputSchema?: JsonObject;
    onDisconnect?: 'CANCEL' | 'CONTINUE';
    idempotencyKey?: string;
  };
};

export const execute = operation<
  ExecuteVariables,
  {
    execute: {
      id: string;
      response: string | null;
      output: JsonObject | null;
      latencyMs: number | null;
      tokensUsed: number;
      toolsCalled: string[];
    };
  }
>(/* GraphQL */ `
  mutation Execute($botId: ID!, $input: ExecuteInput!) {
    execute(botId: $botId, input: $input) { id response output latencyMs tokensUsed toolsCalled }
  }
`);

export const executeStream = operation<ExecuteVariables, { event: StreamedEvent }>(/* GraphQL */ `
  subscription ExecuteStream($botId: ID!, $input: ExecuteInput!) {
    event: execute(botId: $botId, input: $input) { ${STREAMED_EVENT} }
  }
`);
