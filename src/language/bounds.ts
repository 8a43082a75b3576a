/**
 * The most of each that a definition may have, so that what a run builds of it is bounded. The manual, README.md,
 * says where each one holds.
 */
export const BOUNDS = {
  /** Groups of tools, of all kinds. */
  groups: 16,
  /** Of all groups together. */
  capabilities: 128,
  /** Names that `only` lists. */
  serverTools: 128,
  facts: 64,
  /** Of one capability. */
  inputs: 64,
  /** Of one input's type. */
  choices: 100,
  /** Of one request or server. */
  headers: 32,
  suggestions: 20,
  variables: 200,
  /** Templates in one text. */
  references: 1_000,

  /** Characters of a name; the same as of a fact's name in the API. */
  nameLength: 64,
  /** Characters of the name of a variable, a header or a server's tool. */
  longNameLength: 128,
  /** Characters of a template's path. */
  pathLength: 256,
  /** Characters of a URL, as it stands in the source and with its values in place. */
  urlLength: 16_384,
} as const;
