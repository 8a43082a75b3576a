import type { BlockName } from './grammar.ts';

/** The probable meaning of a keyword of another system: a keyword of the block, or advice. */
export type Meaning = { readonly word: string } | { readonly advice: string };

type Meanings = { readonly [word: string]: string };

/** Words of other systems with the word of the same block that does the same. Lower case, without `_` and `-`. */
const WORDS: { readonly [Name in BlockName]?: Meanings } = {
  agent: {
    about: 'description',
    actions: 'tools',
    case: 'test',
    eval: 'test',
    evaluation: 'test',
    facts: 'memory',
    format: 'output',
    functions: 'tools',
    instructions: 'prompt',
    llm: 'model',
    persona: 'prompt',
    plugins: 'tools',
    responseformat: 'output',
    scenario: 'test',
    schema: 'output',
    skills: 'tools',
    summary: 'description',
    system: 'prompt',
    systemprompt: 'prompt',
    tests: 'test',
    tool: 'tools',
  },
  model: {
    effort: 'reasoning',
    endpoint: 'base_url',
    fallbacks: 'fallback',
    key: 'api_key',
    maxcompletiontokens: 'max_tokens',
    maxoutputtokens: 'max_tokens',
    reasoningeffort: 'reasoning',
    thinking: 'reasoning',
    token: 'api_key',
    url: 'base_url',
  },
  web: {
    brand: 'accent',
    buttons: 'suggestions',
    color: 'accent',
    colour: 'accent',
    examples: 'suggestions',
    greeting: 'welcome',
    heading: 'title',
    name: 'title',
    primarycolor: 'accent',
  },
  telegram: {
    admins: 'approvers',
    apikey: 'token',
    bottoken: 'token',
    buttons: 'suggestions',
    examples: 'suggestions',
    greeting: 'welcome',
    key: 'token',
    operators: 'approvers',
  },
  tools: { action: 'capability', function: 'capability', tool: 'capability' },
  mcp: {
    allow: 'only',
    approve: 'approval',
    confirm: 'approval',
    headers: 'header',
    idempotent: 'repeatable',
    include: 'only',
    labels: 'label',
    readonly: 'reads',
    requireapproval: 'approval',
    tools: 'only',
  },
  limits: {
    duration: 'run_time',
    maxcalls: 'tool_calls',
    maxsteps: 'tool_calls',
    maxtoolcalls: 'tool_calls',
    steps: 'tool_calls',
    time: 'run_time',
    timeout: 'run_time',
  },
  capability: {
    approve: 'approval',
    arguments: 'input',
    args: 'input',
    confirm: 'approval',
    confirmation: 'approval',
    displayname: 'label',
    fetch: 'get',
    head: 'get',
    idempotent: 'repeatable',
    parameters: 'input',
    params: 'input',
    readonly: 'reads',
    requireapproval: 'approval',
    requiresapproval: 'approval',
  },
  approval: { expiry: 'expires', timeout: 'expires', ttl: 'expires' },
  request: { headers: 'header', parameters: 'query', params: 'query', queryparams: 'query' },
  test: {
    ask: 'user',
    assert: 'expect',
    expected: 'expect',
    facts: 'memory',
    given: 'context',
    input: 'user',
    message: 'user',
    mock: 'tool',
    question: 'user',
    should: 'expect',
    stub: 'tool',
    tools: 'tool',
  },
};

const VARIABLES = 'write env.NAME in its place, and give the value with the deploy';
const AUTHORIZATION = 'write it as header "Authorization" "Bearer {{ env.NAME }}"';
const BODY = 'the inputs are the body, sent as "body json" or "body form"';
const PARAMETER = 'write it as parameter "NAME" VALUE';
const SENTENCE = 'write the sentence in quotes before the block';
const REQUEST = 'expected "get", "post", "put", "patch" or "delete" with the URL';

/** Words of other systems that no word of the block replaces, with advice. */
const ADVICE: { readonly [Name in BlockName]?: Meanings } = {
  agent: {
    env: VARIABLES,
    greeting: 'it is called "welcome" and belongs in a channel',
    maxsteps: 'it is called "tool_calls" and belongs in "limits"',
    name: 'write the name in quotes after "agent"',
    secrets: VARIABLES,
    variables: VARIABLES,
    version: 'only the language has a version, each deploy is stored',
  },
  model: {
    frequencypenalty: PARAMETER,
    name: 'write the name in quotes after "model"',
    presencepenalty: PARAMETER,
    provider: 'the provider is the server, set with "base_url"',
    responseformat: 'declare the fields in "output"',
    seed: PARAMETER,
    stop: PARAMETER,
    topk: PARAMETER,
    topp: PARAMETER,
    verbosity: PARAMETER,
  },
  tools: {
    url: 'write "tools NAME mcp" with the URL for a server, or a "capability" for each request',
  },
  mcp: {
    auth: AUTHORIZATION,
    authorization: AUTHORIZATION,
    token: AUTHORIZATION,
    url: 'write the URL in quotes after "mcp"',
  },
  capability: {
    description: 'write the description in quotes after the name',
    endpoint: REQUEST,
    http: REQUEST,
    method: REQUEST,
    output: 'the answer goes to the model unchanged',
    request: REQUEST,
    response: 'the answer goes to the model unchanged',
    url: REQUEST,
  },
  approval: { message: SENTENCE, reason: SENTENCE },
  request: {
    auth: AUTHORIZATION,
    authorization: AUTHORIZATION,
    bearer: AUTHORIZATION,
    data: BODY,
    form: BODY,
    json: BODY,
    payload: BODY,
    retries: 'a request is sent once',
    retry: 'a request is sent once',
    token: AUTHORIZATION,
  },
};

/** The meaning of a word in a block that does not define it. */
export function meaningOf(block: BlockName, text: string): Meaning | undefined {
  const key = text.toLowerCase().replaceAll(/[^a-z]/g, '');
  const word = find(WORDS[block], key);
  if (word !== undefined) return { word };
  const advice = find(ADVICE[block], key);
  return advice === undefined ? undefined : { advice };
}

/** Types of other systems with the type of an input. */
const TYPES: Meanings = {
  bool: 'boolean',
  date: 'string',
  datetime: 'string',
  decimal: 'number',
  double: 'number',
  float: 'number',
  int: 'integer',
  long: 'integer',
  str: 'string',
  text: 'string',
  uuid: 'string',
};

const TYPE_ADVICE: Meanings = {
  array: 'write a list as string[]',
  enum: 'write the choices as "a" | "b"',
  list: 'write a list as string[]',
};

/** The meaning of the name of an unknown type. */
export function meaningOfType(text: string): Meaning | undefined {
  const word = find(TYPES, text.toLowerCase());
  if (word !== undefined) return { word };
  const advice = find(TYPE_ADVICE, text.toLowerCase());
  return advice === undefined ? undefined : { advice };
}

function find(meanings: Meanings | undefined, key: string): string | undefined {
  return meanings && Object.hasOwn(meanings, key) ? meanings[key] : undefined;
}

/** The end of a message about an unknown word. */
export function explain(meaning: Meaning): string {
  return 'word' in meaning ? `, did you mean "${meaning.word}"?` : `, ${meaning.advice}`;
}
