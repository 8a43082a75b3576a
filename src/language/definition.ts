import type { Template } from './template.ts';

/**
 * The meaning of a valid source: the form that runs. It is plain JSON, and this module also works in browsers. A setting
 * that the source omits has its default value here, or is omitted if the operator's default applies.
 */
export type Definition = {
  /** A display name; never empty. */
  name: string;
  /** For display. */
  description?: string;
  model: ModelSettings;
  /** The system prompt. Its templates may use `context`, `memory`, `session.id` and `now`. */
  prompt: Template;
  /** How many of the latest messages are sent to the model: 0 to 500, 40 by default. */
  history: number;
  /** The facts that the agent may save about a user. If empty, it has no memory tools. */
  memory: Fact[];
  /** The fields of a structured reply. Undefined: the reply is text. */
  output?: Field[];
  /** At most one of each type. */
  channels: Channel[];
  /** Names are unique. */
  tools: ToolGroup[];
  limits: Limits;
};

/** A reference to a variable of the deployment. */
export type EnvReference = { env: string };

export type ModelSettings = {
  /** Undefined: the operator's default model. */
  name?: string;
  /** 0 to 2. */
  temperature?: number;
  /** The most completion tokens of one model call: 1 to 1,000,000. */
  maxTokens?: number;
  /** How much the model reasons before it answers. Undefined: the model's own default. */
  reasoning?: ReasoningEffort;
  /** Further members of the request's body by name, at most 16. */
  parameters?: { readonly [name: string]: JsonValue };
  /** Other models of the same server, tried in this order after a failed call: 1 to 3 names. */
  fallback?: string[];
  /** Milliseconds for one model call: 1 to 900,000, 60,000 by default. */
  timeout: number;
  /** An OpenAI-compatible server other than the operator's. */
  baseUrl?: string | EnvReference;
  apiKey?: EnvReference;
};

export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [name: string]: JsonValue };

export type Fact = {
  /** Letters, digits and `_`, no digit first. */
  name: string;
  /** For the model. */
  description?: string;
};

export type Channel = WebChannel | TelegramChannel;
export type ChannelType = Channel['type'];

/** The beginning of a conversation in a channel. */
export type Greeting = {
  /** Shown before the first message. */
  welcome?: string;
  /** Offered as first messages. */
  suggestions: string[];
};

export type WebChannel = Greeting & {
  type: 'web';
  /** The title of the chat page, at most 60 characters. Undefined: the agent's name. */
  title?: string;
  /** The colour of the chat page, as `#rrggbb`: readable on the light page. Undefined: Parley's own. See `accentColors`. */
  accent?: string;
};

export type TelegramChannel = Greeting & {
  type: 'telegram';
  token: EnvReference;
  /**
   * The ids of the chats whose members decide about tool calls, without repeats: 1 to 32. A variable has them as text, see
   * `readChatIds`. Undefined: nobody decides in Telegram.
   */
  approvers?: EnvReference | number[];
};

export type ToolGroup = HttpGroup | McpGroup | BuiltInGroup;

/** Tools that make HTTP requests, named `<name>.<capability>`. */
export type HttpGroup = {
  type: 'http';
  name: string;
  /** Names are unique. */
  capabilities: Capability[];
};

/** The tools of an MCP server over streamable HTTP. */
export type McpGroup = {
  type: 'mcp';
  name: string;
  url: string | EnvReference;
  headers: HttpHeader[];
  /** The server's names of the tools to offer; undefined: all tools. */
  only?: string[];
  /** Which tools need approval, in source order. See `approvalOf`. */
  approvals: ServerApproval[];
  /** Tools that change nothing, whether or not the server marks them as reading. */
  reads: string[];
  /** Tools that have an effect once, even if the same call arrives again. */
  repeatable: string[];
  /** What visitors see of calls. Names are unique. */
  labels: ToolLabel[];
};

/** What visitors see while a tool runs and afterwards, at most 60 characters. */
export type ToolLabel = {
  /** The server's name of the tool. */
  tool: string;
  label: string;
};

/** Tools built into the gateway. */
export type BuiltInGroup = {
  type: 'builtin';
  name: BuiltInName;
};

export type Capability = {
  name: string;
  /** For the model. */
  description: string;
  /** What visitors see while a call runs and afterwards, at most 60 characters. Undefined: they see no call. */
  label?: string;
  /** Names are unique. */
  input: Field[];
  /** `null`: a call needs no approval. */
  approval: Approval | null;
  /** Whether the request changes nothing, although its method is not `GET`. See `changesSomething`. */
  reads: boolean;
  /** Whether the service honours the `Idempotency-Key` header, so that a request may be sent again with the same key. */
  repeatable: boolean;
  request: HttpRequest;
};

/** A call waits until a person approves it. */
export type Approval = {
  /** For the person who decides: at most 500 characters. */
  reason: string | null;
  /** How long a call waits: 60 to 604,800 seconds, 86,400 by default. */
  expiresSeconds: number;
};

/** The approval of some tools of a server. No tool has two by name, and at most one covers all tools. */
export type ServerApproval = Approval & {
  /** The server's names of the tools. `all`: every tool without an approval by its name, also tools that the server adds later. */
  tools: string[] | 'all';
};

export type Field = {
  name: string;
  type: FieldType;
  optional: boolean;
  /** For the model. */
  description?: string;
};

/** A scalar, a list of scalars, or one of at least two different strings. */
export type FieldType = { kind: ScalarName; list: boolean } | { kind: 'choice'; choices: string[] };

export type ScalarName = (typeof SCALARS)[number];

export type HttpRequest = {
  method: HttpMethod;
  /** `http:` or `https:`. Values must be percent-encoded. May also use `input` and `env`. */
  url: Template;
  headers: HttpHeader[];
  /** How the input that `query` does not name is sent. Always `none` for `GET`. */
  body: BodyFormat;
  /** Inputs that are sent as query parameters. Without a body, so is every input that the URL does not use. */
  query: string[];
  /** Milliseconds for one request: 1 to 900,000, 10,000 by default. */
  timeout: number;
};

export type BodyFormat = (typeof BODY_FORMATS)[number];

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type HttpHeader = {
  /** As written. Unique regardless of case. */
  name: string;
  /** May also use `env`, and in a capability `input`. */
  value: Template;
};

export type Limits = {
  /** Tool calls in one run: 0 to 64, 8 by default. */
  toolCalls: number;
  /** Milliseconds for one run: 1 to 900,000, 120,000 by default. */
  runTime: number;
};

/** The values of omitted settings. Durations are in milliseconds, unless the name has another unit. */
export const DEFAULTS = {
  history: 40,
  modelTimeout: 60_000,
  requestTimeout: 10_000,
  toolCalls: 8,
  runTime: 120_000,
  approvalSeconds: 86_400,
} as const;

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high'] as const;

export const BODY_FORMATS = ['json', 'form', 'none'] as const;

export const SCALARS = ['string', 'number', 'integer', 'boolean'] as const;

export const CHANNELS = ['web', 'telegram'] as const satisfies readonly ChannelType[];

/** The built-in groups with their tools. */
export const BUILT_IN_GROUPS = { time: ['now'] } as const satisfies Record<
  string,
  readonly string[]
>;

export type BuiltInName = keyof typeof BUILT_IN_GROUPS;

/** The reserved group name of the memory tools. */
export const MEMORY_GROUP = 'memory';
