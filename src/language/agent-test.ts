import type { JsonValue } from './definition.ts';

/**
 * A test of a definition, from its `test` block. Runs never read it: it is no part of the `Definition`.
 */
export type AgentTest = {
  /** Unique in its source; 1 to 200 characters. */
  name: string;
  /** The caller's object. */
  context: JsonObject;
  /** The facts that are saved before the first turn, by name. */
  memory: { readonly [fact: string]: string };
  /** The answers of tools, in source order. */
  tools: ToolAnswer[];
  /** 1 to 20. */
  turns: Turn[];
} & TestPlace;

/** The position of a test or an expectation: its first word, both numbers from 1. */
export type TestPlace = { line: number; column: number };

export type JsonObject = { readonly [name: string]: JsonValue };

/** The next call of a tool gets this text. The last answer of a tool repeats. */
export type ToolAnswer = {
  /** `<group>.<tool>`. */
  tool: string;
  text: string;
  /** Whether the call fails with the text. */
  isError: boolean;
};

/** A message of the user, with the expectations of its reply. */
export type Turn = { message: string; expectations: Expectation[] };

export type Expectation = Expected & TestPlace;

/** What a turn must show. */
export type Expected =
  /** `contains` and `omits` compare without case. `judged` asks a model about the sentence. */
  | { type: 'reply'; test: (typeof REPLY_TESTS)[number]; text: string }
  /** The structured reply has these members with equal values. */
  | { type: 'output'; members: JsonObject }
  /** A call of the tool has these members with equal values. */
  | { type: 'call'; tool: string; input: JsonObject }
  /** No call of the tool; without a tool, no call at all. */
  | { type: 'no-call'; tool?: string }
  /** The tokens of all model calls of the turn. */
  | { type: 'tokens'; below: number };

export const REPLY_TESTS = ['contains', 'omits', 'is', 'judged'] as const;
