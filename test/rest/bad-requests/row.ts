/** A request that is refused. Names in braces, also in a body, stand for ids of the test. */
export type BadRequest = {
  what: string;
  /** The operation's name in the table of routes. Without it, `path` is the request's path. */
  operation?: string;
  /** Default: the operation's method. */
  method?: string;
  /** Only for rows without an operation. */
  path?: string;
  /** The bot's id in the path. Default: `{bot}`. */
  bot?: string;
  /** The id of a run or a deployment. */
  id?: string;
  query?: string;
  /** A name among the test's keys, a whole header, or null for none. Default: `good`. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  code: string;
  /** The paths of all details. */
  details?: string[];
};

/** Every operation, with a valid body if it has one. */
export const OPERATIONS: Record<string, string | undefined> = {
  chat: '{"message": "Hi"}',
  streamChatByQuery: undefined,
  streamChat: '{"message": "Hi"}',
  execute: '{"prompt": "Hi"}',
  listRuns: undefined,
  readRun: undefined,
  followRun: undefined,
  cancelRun: '',
  listApprovals: undefined,
  readApproval: undefined,
  decideApproval: '{"decision": "deny"}',
  startEvaluation: '{"deployment_id": "dep_none"}',
  listEvaluations: undefined,
  readEvaluation: undefined,
  deploy: '{"agentlang": "agentlang 5"}',
  listDeployments: undefined,
  rollback: '{}',
  listModels: undefined,
  retrieveModel: undefined,
  createChatCompletion: '{"model": "{bot}", "messages": [{"role": "user", "content": "Hi"}]}',
  createResponse: '{"model": "{bot}", "input": "Hi"}',
  getResponse: undefined,
  deleteResponse: undefined,
  cancelResponse: '',
};

/** The operations whose paths do not contain a bot. */
export const WITHOUT_BOT = [
  ...['listModels', 'retrieveModel', 'createChatCompletion', 'createResponse'],
  ...['getResponse', 'deleteResponse', 'cancelResponse'],
];

/** Operations with a body. */
export const WITH_BODY = [
  ...['chat', 'streamChat', 'execute', 'decideApproval', 'startEvaluation', 'deploy', 'rollback'],
  ...['createChatCompletion', 'createResponse'],
];

export const json = (value: unknown): string => JSON.stringify(value);
