/**
 * What may stand after a word:
 *
 *     address  = STRING | env_ref
 *     env      = "env" "." NAME
 *     strings  = STRING { "," STRING }
 *     tools    = tool { "," tool }                    tool = NAME | STRING
 *     window   = "none" | "last" INT "messages"
 *     type     = scalar [ "[" "]" ] [ "?" ] | STRING "|" STRING { "|" STRING } [ "?" ]
 *
 * A `string?` may be left out; `text` is a string or a text in three quotes.
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
  | 'tools'
  | 'window'
  | 'type';

/** What may follow one word. */
export type Rule = {
  readonly shapes: readonly Shape[];
  /** The block that ends it. */
  readonly block?: BlockName;
  /** Whether that block may be left out. */
  readonly blockOptional?: boolean;
  /** A word in the block's place that leads on by a rule of its own. */
  readonly form?: Form;
  /** Whether it may stand more than once in its block. */
  readonly repeats?: boolean;
};

export type Form = { readonly word: string; readonly rule: Rule };

export type BlockName =
  | 'agent'
  | 'model'
  | 'memory'
  | 'channel'
  | 'tools'
  | 'mcp'
  | 'limits'
  | 'capability'
  | 'input'
  | 'request';

/** What may stand in a block: words of the language, or names that the author chooses. */
export type BlockRule = {
  /** How messages name the block. */
  readonly title: string;
  /** What one member of it is called. */
  readonly member: string;
  readonly words?: { readonly [word: string]: Rule };
  readonly names?: Rule;
};

const REQUEST: Rule = { shapes: ['string'], block: 'request', blockOptional: true };
const HEADER: Rule = { shapes: ['string', 'string'], repeats: true };

/**
 * definition = "agentlang" INT agent ;
 *
 * agent = "agent" STRING "{" { member } "}" ;
 */
export const VERSION_RULE: Rule = { shapes: ['integer'] };
export const AGENT_RULE: Rule = { shapes: ['string'], block: 'agent' };

/** The one table of the language: which words are allowed where, and what follows them. */
export const BLOCKS: { readonly [Name in BlockName]: BlockRule } = {
  agent: {
    title: '"agent"',
    member: 'a setting',
    words: {
      description: { shapes: ['string'] },
      model: { shapes: ['string'], block: 'model', blockOptional: true },
      prompt: { shapes: ['text'] },
      history: { shapes: ['window'] },
      memory: { shapes: [], block: 'memory' },
      channel: { shapes: ['name'], block: 'channel', blockOptional: true, repeats: true },
      tools: {
        shapes: ['name'],
        block: 'tools',
        blockOptional: true,
        form: { word: 'mcp', rule: { shapes: ['address'], block: 'mcp', blockOptional: true } },
        repeats: true,
      },
      limits: { shapes: [], block: 'limits' },
    },
  },
  model: {
    title: '"model"',
    member: 'a setting',
    words: {
      temperature: { shapes: ['number'] },
      max_tokens: { shapes: ['integer'] },
      timeout: { shapes: ['duration'] },
      base_url: { shapes: ['address'] },
      api_key: { shapes: ['env'] },
    },
  },
  memory: { title: '"memory"', member: 'a name', names: { shapes: ['string?'] } },
  channel: {
    title: '"channel"',
    member: 'a setting',
    words: {
      welcome: { shapes: ['string'] },
      suggestions: { shapes: ['strings'] },
      token: { shapes: ['env'] },
    },
  },
  tools: {
    title: '"tools"',
    member: '"capability"',
    words: { capability: { shapes: ['name', 'string'], block: 'capability', repeats: true } },
  },
  mcp: {
    title: '"mcp"',
    member: 'a setting',
    words: { header: HEADER, only: { shapes: ['tools'] } },
  },
  limits: {
    title: '"limits"',
    member: 'a setting',
    words: { tool_calls: { shapes: ['integer'] }, run_time: { shapes: ['duration'] } },
  },
  capability: {
    title: '"capability"',
    member: '"input", a request',
    words: {
      input: { shapes: [], block: 'input' },
      get: REQUEST,
      post: REQUEST,
      put: REQUEST,
      patch: REQUEST,
      delete: REQUEST,
    },
  },
  input: { title: '"input"', member: 'a name', names: { shapes: ['type', 'string?'] } },
  request: {
    title: 'a request',
    member: 'a setting',
    words: { header: HEADER, timeout: { shapes: ['duration'] } },
  },
};

/** The words that a block takes; none where its members have names. */
export function wordsOf(block: BlockName): string[] {
  return Object.keys(BLOCKS[block].words ?? {});
}

/** The rule of a word in a block of words. */
export function findRule(block: BlockName, word: string): Rule | undefined {
  const { words } = BLOCKS[block];
  return words && Object.hasOwn(words, word) ? words[word] : undefined;
}

/** Titles of the blocks that do take a word. */
export function findHomes(word: string): string[] {
  return Object.values(BLOCKS)
    .filter(({ words }) => words && Object.hasOwn(words, word))
    .map(({ title }) => title);
}

/** Whether a member of the block may itself have a block. */
export function holdsBlocks(block: BlockName): boolean {
  return Object.values(BLOCKS[block].words ?? {}).some((rule) => rule.block !== undefined);
}
