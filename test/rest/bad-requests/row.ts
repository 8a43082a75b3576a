/** A request that is refused, and how. Names in braces stand for bots and the like that the test has made. */
export type BadRequest = {
  what: string;
  /** The operation that is asked for, by its name in the table of routes; none: `path` is nothing of it. */
  operation?: string;
  /** In place of the operation's own. */
  method?: string;
  /** Where there is no operation. */
  path?: string;
  /** Which bot is asked for, as it stands in the path; `{bot}` unless said otherwise. */
  bot?: string;
  /** Which run or deployment of it. */
  id?: string;
  query?: string;
  /** A name among the test's keys, a whole header, or none; `good` unless said otherwise. */
  key?: string | null;
  headers?: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  code: string;
  /** The paths of all details. */
  details?: string[];
};

/** Every operation, with a body that it takes where it takes one. */
export const OPERATIONS: Record<string, string | undefined> = {
  chat: '{"message": "Hi"}',
  streamChatByQuery: undefined,
  streamChat: '{"message": "Hi"}',
  execute: '{"prompt": "Hi"}',
  listRuns: undefined,
  readRun: undefined,
  followRun: undefined,
  cancelRun: '',
  deploy: '{"agentlang": "agentlang 5"}',
  listDeployments: undefined,
  rollback: '{}',
};

/** Those that read a body. */
export const WITH_BODY = ['chat', 'streamChat', 'execute', 'deploy', 'rollback'];

export const json = (value: unknown): string => JSON.stringify(value);
