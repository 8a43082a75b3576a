import type { JsonObject } from '../text/json.ts';
import { operation } from './operation.ts';

/** A run event with its number. */
export type LoggedEvent = { seq: number } & (
  | { type: 'RunStarted'; runId: string; sessionId: string | null }
  | { type: 'TextDelta'; delta: string }
  | { type: 'ToolStarted'; name: string; callId: string }
  | { type: 'ToolFinished'; name: string; callId: string; failed: boolean; durationMs: number }
  | { type: 'ChatDone'; latencyMs: number }
  | { type: 'ChatFailed'; latencyMs: number; code: string; message: string }
  | { type: 'ChatCancelled'; latencyMs: number }
);

/** Replays the events after a position, then follows the run. */
export const runEvents = operation<
  { botId: string; runId: string; after?: number },
  { event: LoggedEvent }
>(/* GraphQL */ `
  subscription RunEvents($botId: ID!, $runId: ID!, $after: Int) {
    event: runEvents(botId: $botId, runId: $runId, after: $after) {
      type: __typename
      ... on RunStarted {
        seq
        runId
        sessionId
      }
      ... on TextDelta {
        seq
        delta
      }
      ... on ToolStarted {
        seq
        name
        callId
      }
      ... on ToolFinished {
        seq
        name
        callId
        failed
        durationMs
      }
      ... on ChatDone {
        seq
        latencyMs
      }
      ... on ChatFailed {
        seq
        latencyMs
        code
        message
      }
      ... on ChatCancelled {
        seq
        latencyMs
      }
    }
  }
`);

/** Reads the `seq` of the last event of a finished run. */
export const runEventsEnd = operation<
  { botId: string; runId: string },
  { end: number | null }
>(/* GraphQL */ `
  query RunEventsEnd($botId: ID!, $runId: ID!) {
    end: runEventsEnd(botId: $botId, runId: $runId)
  }
`);

/** The fields of a run in REST responses. */
export type RunData = {
  id: string;
  bot: { id: string };
  deployment: { id: string } | null;
  environment: 'PRODUCTION' | 'STAGING';
  kind: 'CHAT' | 'EXECUTE';
  status: RunStatusName;
  channel: ChannelName;
  sessionId: string | null;
  input: string;
  response: string | null;
  output: JsonObject | null;
  metadata: JsonObject | null;
  error: { code: string; message: string } | null;
  model: string | null;
  createdAt: Date;
  startedAt: Date | null;
  finishedAt: Date | null;
  latencyMs: number | null;
  tokensUsed: number;
  promptTokens: number;
  completionTokens: number;
  tokensEstimated: boolean;
  cachedTokens: number | null;
  reasoningTokens: number | null;
  finishReason: string | null;
  toolsCalled: string[];
  trace: {
    traceId: string;
    spans: {
      spanId: string;
      parentId: string | null;
      name: string;
      startedAt: Date;
      durationMs: number;
      status: 'UNSET' | 'OK' | 'ERROR';
      attributes: JsonObject;
    }[];
  };
};

/** The contents of a run, which require the scope RUNS. */
type RunContents = 'deployment' | 'input' | 'response' | 'output' | 'metadata' | 'error' | 'trace';

/** A run as a key without the scope RUNS reads it. */
export type RunFacts = Omit<RunData, RunContents> & Partial<Pick<RunData, RunContents>>;

type RunStatusName = 'QUEUED' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'CANCELLED';
type ChannelName = 'API' | 'WEB' | 'TELEGRAM';

const FACTS = /* GraphQL */ `
  fragment RunFacts on Run {
    id
    bot {
      id
    }
    environment
    kind
    status
    channel
    sessionId
    model
    createdAt
    startedAt
    finishedAt
    latencyMs
    tokensUsed
    promptTokens
    completionTokens
    tokensEstimated
    cachedTokens
    reasoningTokens
    finishReason
    toolsCalled
  }
`;

const RUN = /* GraphQL */ `
  fragment RunData on Run {
    ...RunFacts
    deployment {
      id
    }
    input
    response
    output
    metadata
    error {
      code
      message
    }
    trace {
      traceId
      spans {
        spanId
        parentId
        name
        startedAt
        durationMs
        status
        attributes
      }
    }
  }
  ${FACTS}
`;

export type ListRunsVariables = {
  botId: string;
  first: number;
  after?: string;
  filter: {
    user?: string;
    status?: RunStatusName[];
    channel?: ChannelName[];
    kind?: 'CHAT' | 'EXECUTE';
    environment?: 'PRODUCTION' | 'STAGING';
    date?: string;
    from?: Date;
    to?: Date;
  };
};

export const listRuns = operation<
  ListRunsVariables,
  {
    runs: {
      edges: { node: RunData }[];
      pageInfo: { hasNextPage: boolean; endCursor: string | null };
    };
  }
>(/* GraphQL */ `
  query ListRuns($botId: ID!, $filter: RunFilter, $first: Int, $after: String) {
    runs(botId: $botId, filter: $filter, first: $first, after: $after) {
      edges {
        node {
          ...RunData
        }
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
  ${RUN}
`);

export const readRun = operation<{ botId: string; runId: string }, { run: RunData }>(/* GraphQL */ `
  query ReadRun($botId: ID!, $runId: ID!) {
    run(botId: $botId, id: $runId) {
      ...RunData
    }
  }
  ${RUN}
`);

/** Cancels a run and returns its contents, which requires the scope RUNS. */
export const cancelRun = operation<
  { botId: string; runId: string },
  { cancelRun: RunFacts }
>(/* GraphQL */ `
  mutation CancelRun($botId: ID!, $runId: ID!) {
    cancelRun(botId: $botId, id: $runId) {
      ...RunData
    }
  }
  ${RUN}
`);

/** Cancels a run for a key without the scope RUNS. */
export const stopRun = operation<
  { botId: string; runId: string },
  { cancelRun: RunFacts }
>(/* GraphQL */ `
  mutation StopRun($botId: ID!, $runId: ID!) {
    cancelRun(botId: $botId, id: $runId) {
      ...RunFacts
    }
  }
  ${FACTS}
`);
