/**
 * The limits of a definition, which bound the work of a run. docs/language/reference.md says where each one applies.
 */
export const BOUNDS = {
  /** Groups of tools, of all kinds. */
  groups: 16,
  /** Capabilities of all groups together. */
  capabilities: 128,
  /** Names that `only`, `reads`, `repeatable`, all `approval` or all `label` of a server list. */
  serverTools: 128,
  facts: 64,
  /** Inputs of one capability. */
  inputs: 64,
  /** Fields of a structured reply. */
  outputFields: 64,
  /** Choices of one field's type. */
  choices: 100,
  /** Headers of one request or server. */
  headers: 32,
  suggestions: 8,
  /** Chats of the people who decide about tool calls. */
  approvers: 32,
  variables: 200,
  /** Further members of a model's request. */
  parameters: 16,
  /** Levels of objects and lists in the value of a parameter, and in the JSON of a test. */
  jsonLevels: 32,
  /** Models that are tried after the first one. */
  fallbacks: 3,
  /** Tool calls of one run. */
  toolCalls: 64,
  tests: 100,
  /** Messages of the user in one test. */
  turns: 20,
  /** Answers of tools in one test. */
  testTools: 100,
  /** Expectations of one test. */
  expectations: 100,
  /** Templates in one text. */
  references: 1_000,

  /** Characters of a name. The API has the same limit for a fact's name. */
  nameLength: 64,
  /** Characters of the name of a variable, a header, a parameter, a fallback model or a server's tool. */
  longNameLength: 128,
  /** Characters of a template's path. */
  pathLength: 256,
  /** Characters of the texts on the chat page, which is public: the agent's name, the title, the welcome, a suggestion, and a tool's label. */
  agentNameLength: 200,
  titleLength: 60,
  welcomeLength: 2_000,
  suggestionLength: 200,
  labelLength: 60,
  /** Characters of an approval's sentence for the person who decides. */
  approvalLength: 500,
  testNameLength: 200,
  /** Characters of a URL, both as written in the source and as rendered. */
  urlLength: 16_384,
} as const;
