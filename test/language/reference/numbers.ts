import type { BOUNDS } from '../../../src/language/bounds.ts';
import type { DEFAULTS } from '../../../src/language/definition.ts';

export type BoundName = keyof typeof BOUNDS;

/** The sentences with each limit. A new limit needs a sentence here and in the reference. */
export const boundSentences: Record<BoundName, (value: number) => string[]> = {
  groups: (value) => [`at most ${value} groups of tools`],
  capabilities: (value) => [`at most ${value} capabilities`],
  serverTools: (value) => [
    `\`only\`, \`reads\`, \`repeatable\`, all \`approval\` and all \`label\` of a server name at most ${value} tools each.`,
  ],
  facts: (value) => [`at most ${value} facts`],
  inputs: (value) => [`A capability has at most ${value} inputs`],
  outputFields: (value) => [`An output has at most ${value} fields.`],
  choices: (value) => [`a type has at most ${value} choices`],
  headers: (value) => [`at most ${value} headers`],
  suggestions: (value) => [`A channel has at most ${value} suggestions.`],
  approvers: (value) => [`\`approvers\` has 1 to ${value} chat ids`],
  variables: (value) => [`A source names at most ${value} variables.`],
  parameters: (value) => [`A model has at most ${value} parameters`],
  jsonLevels: (value) => [`JSON of at most ${value} levels`],
  fallbacks: (value) => [`\`fallback\` names 1 to ${value} other models`],
  toolCalls: (value) => [`\`tool_calls\` is 0 to ${value}`],
  tests: (value) => [`A definition has at most ${value} tests.`],
  turns: (value) => [`A test has 1 to ${value} turns`],
  testTools: (value) => [`at most ${value} answers of tools and `],
  expectations: (value) => [`answers of tools and ${value} expectations.`],
  references: (value) => [`A text has at most ${value} templates`],
  nameLength: (value) => [`A name has at most ${value} characters`],
  longNameLength: (value) => [`or a server's tool has at most ${value}.`],
  pathLength: (value) => [`path has at most ${value} characters`],
  agentNameLength: (value) => [`The name of the agent has at most ${value} characters.`],
  titleLength: (value) => [`A title has at most ${value} characters.`],
  welcomeLength: (value) => [`A welcome has at most ${value} characters`],
  suggestionLength: (value) => [`a suggestion at most ${value}.`],
  labelLength: (value) => [`The label of a tool has at most ${value} characters.`],
  approvalLength: (value) => [`The sentence of an approval has at most ${value} characters.`],
  testNameLength: (value) => [`The name of a test has at most ${value} characters.`],
  urlLength: (value) => [
    `A URL has at most ${value} characters.`,
    `a rendered URL has at most ${value};`,
  ],
};

/** The sentence with each default, and its section. */
export const defaultSentences: Record<keyof typeof DEFAULTS, [section: string, text: string]> = {
  history: ['agent', 'the default is 40'],
  modelTimeout: ['model', 'the default of a model is 60s'],
  requestTimeout: ['request', '10s by default'],
  toolCalls: ['limits', 'the default is 8'],
  runTime: ['limits', 'the default is 120s'],
  approvalSeconds: ['approval', 'the default is 24h'],
};
