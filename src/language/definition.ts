import type { Template } from './template.ts';

/**
 * What a definition means, once it is read and checked: the form that is stored with a deployment and run.
 * Plain JSON, and pure: also for browsers. What the source leaves out has its default here, or is left out where
 * the operator's default holds.
 */
export type Definition = {
  /** For people; never empty. */
  name: string;
  /** For people. */
  description?: string;
  model: ModelSettings;
  /** The system prompt; places values of `context`, `memory`, `session.id` and `now`. */
  prompt: Template;
  /** How many of the latest messages are sent to the model: 0 to 500, 40 by default. */
  history: number;
  /** What the agent may keep of a user. None: it has no memory tools. */
  memory: Fact[];
  /** Each type at most once. */
  channels: Channel[];
  /** Each name at most once. */
  tools: ToolGroup[];
  limits: Limits;
};

/** The name of a deployment's variable in place of its value. */
export type EnvReference = { env: string };

export type ModelSettings = {
  /** Left out: the operator's default model. */
  name?: string;
  /** 0 to 2. */
  temperature?: number;
  /** Completion tokens of one model call, at most: 1 to 1,000,000. */
  maxTokens?: number;
  /** Milliseconds for one model call: 1 to 900,000, 60,000 by default. */
  timeout: number;
  /** An OpenAI-compatible server other than the operator's. */
  baseUrl?: string | EnvReference;
  apiKey?: EnvReference;
};

export type Fact = {
  /** Letters, digits and `_`, no digit first. */
  name: string;
  /** For the model. */
  description?: string;
};

export type Channel = WebChannel | TelegramChannel;
export type ChannelType = Channel['type'];

export type WebChannel = {
  type: 'web';
  /** Shown before the first message. */
  welcome?: string;
  /** Offered as first messages. */
  suggestions: string[];
};

export type TelegramChannel = {
  type: 'telegram';
  token: EnvReference;
};

export type ToolGroup = HttpGroup | McpGroup | BuiltInGroup;

/** Tools that are HTTP requests, called `<name>.<capability>`. */
export type HttpGroup = {
  type: 'http';
  name: string;
  /** Each name at most once. */
  capabilities: Capability[];
};

/** The tools of a server of the Model Context Protocol, by streamable HTTP. */
export type McpGroup = {
  type: 'mcp';
  name: string;
  url: string | EnvReference;
  headers: HttpHeader[];
  /** The server's own names of the tools to offer; left out: all of them. */
  only?: string[];
};

/** Tools that the gateway has itself. */
export type BuiltInGroup = {
  type: 'builtin';
  name: BuiltInName;
};

export type Capability = {
  name: string;
  /** For the model. */
  description: string;
  /** Each name at most once. */
  input: Field[];
  request: HttpRequest;
};

export type Field = {
  name: string;
  type: FieldType;
  optional: boolean;
  /** For the model. */
  description?: string;
};

/** A value, a list of values, or one of at least two different strings. */
export type FieldType = { kind: ScalarName; list: boolean } | { kind: 'choice'; choices: string[] };

export type ScalarName = (typeof SCALARS)[number];

export type HttpRequest = {
  method: HttpMethod;
  /** `http:` or `https:`; its values are to be percent-encoded. Places also `input` and `env`. */
  url: Template;
  headers: HttpHeader[];
  /** Milliseconds for one request: 1 to 900,000, 10,000 by default. */
  timeout: number;
};

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type HttpHeader = {
  /** As written; each at most once, whatever its case. */
  name: string;
  /** Places also `env`, and in a capability `input`. */
  value: Template;
};

export type Limits = {
  /** Tool calls in one run: 0 to 64, 8 by default. */
  toolCalls: number;
  /** Milliseconds for one run: 1 to 900,000, 120,000 by default. */
  runTime: number;
};

/** What holds where a definition says nothing. Durations in milliseconds. */
export const DEFAULTS = {
  history: 40,
  modelTimeout: 60_000,
  requestTimeout: 10_000,
  toolCalls: 8,
  runTime: 120_000,
} as const;

export const SCALARS = ['string', 'number', 'integer', 'boolean'] as const;

export const CHANNELS = ['web', 'telegram'] as const satisfies readonly ChannelType[];

/** The built-in groups with their tools. */
export const BUILT_IN_GROUPS = { time: ['now'] } as const satisfies Record<
  string,
  readonly string[]
>;

export type BuiltInName = keyof typeof BUILT_IN_GROUPS;

/** The group of the memory tools, which no definition may name. */
export const MEMORY_GROUP = 'memory';
