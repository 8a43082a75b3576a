/**
 * The arguments of a word:
 *
 *     address  = STRING | env_ref
 *     env      = "env" "." NAME
 *     strings  = STRING { "," STRING }
 *     tools    = tool { "," tool }                    tool = NAME | STRING
 *     approved = "all" | tools
 *     chats    = STRING | env_ref
 *     names    = NAME { "," NAME }
 *     body     = "json" | "form" | "none"
 *     window   = "none" | "last" INT "messages"
 *     effort   = "none" | "minimal" | "low" | "medium" | "high"
 *     value    = NUMBER | "true" | "false" | STRING
 *     call     = NAME "." tool
 *     outcome  = ( "returns" | "fails" ) TEXT
 *     expected = "reply" ( "contains" | "omits" | "is" | "judged" ) TEXT | "output" TEXT
 *              | "call" call [ TEXT ] | "no" "call" [ call ] | "tokens" "below" INT
 *     type     = scalar [ "[" "]" ] [ "?" ] | STRING "|" STRING { "|" STRING } [ "?" ]
 *
 * `string?` is optional. `text` is a string or a text in three quotes.
 */
export type Shape =
  | 'string'
  | 'string?'
  | 'text'
  | 'integer'
  | 'number'
  | 'duration'
  | 'name'
  | 'address'
  | 'env'
  | 'strings'
  | 'tool'
  | 'tools'
  | 'approved'
  | 'chats'
  | 'names'
  | 'body'
  | 'window'
  | 'effort'
  | 'value'
  | 'call'
  | 'outcome'
  | 'expected'
  | 'type';

/** The syntax after one word. */
export type Rule = {
  readonly shapes: readonly Shape[];
  /** The block after the arguments. */
  readonly block?: BlockName;
  readonly blockOptional?: boolean;
  /** In place of `block`: the block for each name that may follow the word. */
  readonly blocks?: { readonly [name: string]: BlockName };
  /** An alternative to the block: a word with its own rule. */
  readonly form?: Form;
  /** Whether the word may occur more than once in its block. */
  readonly repeats?: boolean;
};

export type Form = { readonly word: string; readonly rule: Rule };

export type BlockName =
  | 'agent'
  | 'model'
  | 'memory'
  | 'output'
  | 'web'
  | 'telegram'
  | 'tools'
  | 'mcp'
  | 'limits'
  | 'capability'
  | 'approval'
  | 'input'
  | 'request'
  | 'test'
  | 'remembered';

/** The members of a block: keywords of the language, or names that the author chooses. */
export type BlockRule = {
  /** The block's name in messages. */
  readonly title: string;
  /** The name of a member in messages. */
  readonly member: string;
  readonly words?: { readonly [word: string]: Rule };
  readonly names?: Rule;
  /** Whether the formatter writes the values of its members without columns. */
  readonly plain?: boolean;
};

const REQUEST: Rule = { shapes: ['string'], block: 'request', blockOptional: true };
const GREETING = { welcome: { shapes: ['string'] }, suggestions: { shapes: ['strings'] } } as const;
const FIELD: Rule = { shapes: ['type', 'string?'] };
const HEADER: Rule = { shapes: ['string', 'string'], repeats: true };
const APPROVAL = { block: 'approval', blockOptional: true } as const;

/**
 * definition = "agentlang" INT agent ;
 *
 * agent = "agent" STRING "{" { member } "}" ;
 */
export const VERSION_RULE: Rule = { shapes: ['integer'] };
export const AGENT_RULE: Rule = { shapes: ['string'], block: 'agent' };

/** The grammar of all blocks: which words each block allows, and the syntax after them. */
export const BLOCKS: { readonly [Name in BlockName]: BlockRule } = {
  agent: {
    title: '"agent"',
    member: 'a setting',
    plain: true,
    words: {
      description: { shapes: ['string'] },
      model: { shapes: ['string'], block: 'model', blockOptional: true },
      prompt: { shapes: ['text'] },
      history: { shapes: ['window'] },
      memory: { shapes: [], block: 'memory' },
      channel: {
        shapes: ['name'],
        blocks: { web: 'web', telegram: 'telegram' },
        blockOptional: true,
        repeats: true,
      },
      tools: {
        shapes: ['name'],
        block: 'tools',
        blockOptional: true,
        form: { word: 'mcp', rule: { shapes: ['address'], block: 'mcp', blockOptional: true } },
        repeats: true,
      },
      output: { shapes: [], block: 'output' },
      limits: { shapes: [], block: 'limits' },
      test: { shapes: ['string'], block: 'test', repeats: true },
    },
  },
  model: {
    title: '"model"',
    member: 'a setting',
    words: {
      temperature: { shapes: ['number'] },
      max_tokens: { shapes: ['integer'] },
      reasoning: { shapes: ['effort'] },
      parameter: { shapes: ['string', 'value'], repeats: true },
      fallback: { shapes: ['strings'] },
      timeout: { shapes: ['duration'] },
      base_url: { shapes: ['address'] },
      api_key: { shapes: ['env'] },
    },
  },
  memory: { title: '"memory"', member: 'a name', names: { shapes: ['string?'] } },
  web: {
    title: 'channel "web"',
    member: 'a setting',
    words: { title: { shapes: ['string'] }, accent: { shapes: ['string'] }, ...GREETING },
  },
  telegram: {
    title: 'channel "telegram"',
    member: 'a setting',
    words: { ...GREETING, token: { shapes: ['env'] }, approvers: { shapes: ['chats'] } },
  },
  tools: {
    title: '"tools"',
    member: '"capability"',
    plain: true,
    words: { capability: { shapes: ['name', 'string'], block: 'capability', repeats: true } },
  },
  mcp: {
    title: '"mcp"',
    member: 'a setting',
    words: {
      header: HEADER,
      only: { shapes: ['tools'] },
      label: { shapes: ['tool', 'string'], repeats: true },
      approval: { shapes: ['approved', 'string?'], ...APPROVAL, repeats: true },
      reads: { shapes: ['tools'] },
      repeatable: { shapes: ['tools'] },
    },
  },
  limits: {
    title: '"limits"',
    member: 'a setting',
    words: { tool_calls: { shapes: ['integer'] }, run_time: { shapes: ['duration'] } },
  },
  capability: {
    title: '"capability"',
    member: 'a setting, a request',
    plain: true,
    words: {
      label: { shapes: ['string'] },
      input: { shapes: [], block: 'input' },
      approval: { shapes: ['string?'], ...APPROVAL },
      reads: { shapes: [] },
      repeatable: { shapes: [] },
      get: REQUEST,
      post: REQUEST,
      put: REQUEST,
      patch: REQUEST,
      delete: REQUEST,
    },
  },
  approval: {
    title: '"approval"',
    member: '"expires"',
    words: { expires: { shapes: ['duration'] } },
  },
  input: { title: '"input"', member: 'a name', names: FIELD },
  output: { title: '"output"', member: 'a name', names: FIELD },
  request: {
    title: 'a request',
    member: 'a setting',
    words: {
      header: HEADER,
      timeout: { shapes: ['duration'] },
      body: { shapes: ['body'] },
      query: { shapes: ['names'] },
    },
  },
  test: {
    title: '"test"',
    member: 'a part of the test',
    words: {
      context: { shapes: ['text'] },
      memory: { shapes: [], block: 'remembered' },
      user: { shapes: ['text'], repeats: true },
      tool: { shapes: ['call', 'outcome'], repeats: true },
      expect: { shapes: ['expected'], repeats: true },
    },
  },
  remembered: { title: '"memory" of a test', member: 'a name', names: { shapes: ['text'] } },
};

/** The keywords of a block. Empty for a block of names. */
export function wordsOf(block: BlockName): string[] {
  return Object.keys(BLOCKS[block].words ?? {});
}

/** The rule of a keyword in a block. */
export function findRule(block: BlockName, word: string): Rule | undefined {
  const { words } = BLOCKS[block];
  return words && Object.hasOwn(words, word) ? words[word] : undefined;
}

/** Titles of the blocks that allow a keyword. */
export function findHomes(word: string): string[] {
  return Object.values(BLOCKS)
    .filter(({ words }) => words && Object.hasOwn(words, word))
    .map(({ title }) => title);
}
