/** The surface of `@parley/client`. */
export type { ApiPromise } from './api-promise.ts';
export type { BackgroundRun } from './background-run.ts';
export { ChatClient } from './chat-client.ts';
export type {
  ChatInput,
  ChatReply,
  Environment,
  ExecuteInput,
  ExecuteReply,
  HistoryMessage,
  JsonObject,
} from './chats.ts';
export type {
  DeployInput,
  Deployment,
  DeploymentFilter,
  DeployReply,
  Diagnostic,
  RollbackInput,
  RollbackReply,
} from './deployments.ts';
export {
  AuthenticationError,
  ConnectionError,
  DeployError,
  type ErrorDetail,
  InvalidRequestError,
  NotFoundError,
  ParleyError,
  PermissionError,
  RateLimitError,
  RunError,
  TimeoutError,
} from './errors.ts';
export type { List, Page } from './list.ts';
export type { ClientOptions, RateLimits, RequestOptions } from './options.ts';
export { Parley } from './parley.ts';
export type { ReplyStream } from './reply-stream.ts';
export type {
  CancelledRun,
  Run,
  RunDone,
  RunEvent,
  RunFailure,
  RunFilter,
  RunStarted,
  Span,
  TextDelta,
  ToolCall,
  ToolFinished,
  ToolStarted,
  Trace,
} from './runs.ts';
