import { type BadRequest, OPERATIONS } from './row.ts';

/** Invalid values of headers, on the routes that read them. */
const HEADERS: Record<string, { operations: string[]; values: string[] }> = {
  'x-session-id': {
    operations: ['chat', 'streamChat', 'streamChatByQuery', 'createChatCompletion'],
    values: ['', 'a b', 'x'.repeat(257), 'a\tb', '\u00a0'],
  },
  'x-environment': {
    operations: ['chat', 'streamChat', 'execute', 'createResponse'],
    values: ['', 'test', 'STAGING', 'staging, production', 'toString'],
  },
  'x-on-busy': { operations: ['chat', 'streamChatByQuery'], values: ['', 'Reject', 'wait'] },
  'x-on-disconnect': { operations: ['chat', 'execute'], values: ['', 'go on', 'CANCEL'] },
  'idempotency-replay-only': {
    operations: ['chat', 'streamChatByQuery', 'execute'],
    values: ['', 'yes', '1', 'TRUE'],
  },
  'idempotency-key': {
    operations: ['chat', 'execute', 'deploy', 'rollback', 'createChatCompletion', 'createResponse'],
    values: ['', 'a b', 'x'.repeat(256), '\u00e4'],
  },
  'last-event-id': { operations: ['followRun'], values: ['x', '-1', '1.5', '1e3', '+1'] },
};

/** Invalid query parameters, on the routes that read them. */
const QUERIES: Record<string, Record<string, string[]>> = {
  streamChatByQuery: {
    message: ['', 'message=', 'message=%00', 'message=a&message=b'],
    session_id: ['message=a&session_id=', 'message=a&session_id=a%20b', 'message=a&session_id=%00'],
    environment: ['message=a&environment=test', 'message=a&environment='],
  },
  streamChat: {
    session_id: ['session_id=', 'session_id=a&session_id=b'],
    environment: ['environment=Staging'],
  },
  followRun: { after: ['after=', 'after=-1', 'after=x', 'after=1.5', 'after=1&after=2'] },
  listRuns: {
    limit: ['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=x', 'limit=Infinity'],
    cursor: ['cursor=', 'cursor=nonsense', 'cursor=%00', 'cursor=a&cursor=b'],
    status: ['status=done', 'status=', 'status=COMPLETED', 'status=__proto__'],
    channel: ['channel=mail'],
    entrance: ['entrance=fax', 'entrance=', 'entrance=OPENAI', 'entrance=rest&entrance=mcp'],
    kind: ['kind=all'],
    environment: ['environment=test'],
    user: ['user=', 'user=a%20b', 'user=%00'],
    date: ['date=2026-02-30', 'date=today', 'date=2026-1-1', 'date='],
    from: ['from=yesterday', 'from=2026-03-01T00:00:00', 'from=1'],
    to: ['to=2026-13-01', 'to=', 'to=2026-03-01T25:00:00Z'],
    '': ['colour=blue', '__proto__=a', 'limit[]=1'],
  },
  getResponse: {
    stream: ['stream=yes', 'stream=', 'stream=true&stream=true'],
    starting_after: ['starting_after=x', 'starting_after=-1', 'starting_after=1.5'],
  },
  listApprovals: {
    limit: ['limit=0', 'limit=101', 'limit=many'],
    cursor: ['cursor=nonsense', 'cursor='],
    status: ['status=done', 'status=WAITING'],
    '': ['user=a', 'colour=blue'],
  },
  listEvaluations: {
    limit: ['limit=0', 'limit=101', 'limit=many'],
    cursor: ['cursor=nonsense', 'cursor='],
    '': ['status=running', 'colour=blue'],
  },
  readEvaluation: {
    limit: ['limit=0', 'limit=101', 'limit=many'],
    cursor: ['cursor=nonsense', 'cursor='],
    verdict: ['verdict=done', 'verdict=PASSED', 'verdict='],
    '': ['status=running', 'first=2'],
  },
  listDeployments: {
    limit: ['limit=0', 'limit=101', 'limit=many', 'limit=1&limit=2'],
    cursor: ['cursor=nonsense', 'cursor='],
    status: ['status=done', 'status=DEPLOYED'],
    environment: ['environment=test'],
    '': ['user=a', 'colour=blue'],
  },
};

const headers = Object.entries(HEADERS).flatMap(([name, { operations, values }]) =>
  operations.flatMap((operation) =>
    values.map((value) => ({
      operation,
      what: `${name}: ${value.slice(0, 20)}`,
      headers: { [name]: value },
      query: operation === 'streamChatByQuery' ? 'message=a' : '',
      body: OPERATIONS[operation],
      code: 'invalid_request',
      details: [name],
    })),
  ),
);

const queries = Object.entries(QUERIES).flatMap(([operation, parameters]) =>
  Object.entries(parameters).flatMap(([name, all]) =>
    all.map((query) => ({
      operation,
      what: `?${query}`,
      query,
      body: OPERATIONS[operation],
      code: 'invalid_request',
      details: [name],
    })),
  ),
);

/** Operations on a run or a deployment, with the error for an unknown one. */
const NAMING = {
  readRun: 'run_not_found',
  followRun: 'run_not_found',
  cancelRun: 'run_not_found',
  readApproval: 'approval_not_found',
  decideApproval: 'approval_not_found',
  readEvaluation: 'evaluation_not_found',
  rollback: 'deployment_not_found',
  retrieveModel: 'model_not_found',
  getResponse: 'run_not_found',
  deleteResponse: 'run_not_found',
  cancelResponse: 'run_not_found',
};

const absent: BadRequest[] = Object.entries(NAMING).flatMap(([operation, code]) =>
  ['x', 'run_none', '..%2F..', '__proto__', 'x'.repeat(2_000)].map((id) => ({
    operation,
    id,
    body: OPERATIONS[operation],
    what: `of ${id.slice(0, 20)}`,
    code,
  })),
);

/** An id that cannot be stored. */
const unstorable: BadRequest[] = Object.keys(NAMING).map((operation) => ({
  operation,
  id: '%00',
  body: OPERATIONS[operation],
  what: 'of U+0000',
  code: 'invalid_request',
}));

/** Bots in a state that does not allow the operation. */
const states: BadRequest[] = [
  ...['chat', 'streamChat', 'execute'].flatMap((operation) => [
    {
      operation,
      what: 'a bot without a deployment',
      bot: '{undeployed}',
      body: OPERATIONS[operation],
    },
    {
      operation,
      what: 'staging without a deployment',
      headers: { 'x-environment': 'staging' },
      body: OPERATIONS[operation],
    },
  ]),
  {
    operation: 'streamChatByQuery',
    what: 'a bot without a deployment',
    bot: '{undeployed}',
    query: 'message=a',
  },
].map((row) => ({ ...row, code: 'bot_not_deployed' }));

/** Malformed URLs. */
const urls: BadRequest[] = ['%', '%E0%A4%A', '%zz', 'a%'].map((id) => ({
  what: `a malformed URL with ${id}`,
  path: `/v1/bots/${id}/chat`,
  method: 'POST',
  code: 'invalid_request',
}));

export const parameters: BadRequest[] = [
  ...headers,
  ...queries,
  ...absent,
  ...unstorable,
  ...states,
  ...urls,
];
