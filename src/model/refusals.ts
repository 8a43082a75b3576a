import { createHash } from 'node:crypto';
import { isJsonObject } from '../text/json.ts';

/** A value that a server refused in a member of a request. */
export type Refusal = {
  /**
   * The member. A structured answer is refused by its type, too, and a temperature for one effort of reasoning, because
   * OpenAI's models accept it if they do not reason.
   */
  of: string;
  /** The value as JSON; its hash if it is long. */
  value: string;
};

/** Members of a request that are left out if a server refuses them. The effort of reasoning decides on later ones. */
const OPTIONAL = [
  'reasoning_effort',
  'stream_options',
  'temperature',
  'tool_choice',
  'parallel_tool_calls',
] as const;

type OptionalMember = (typeof OPTIONAL)[number];

type Members = Readonly<Record<string, unknown>>;

/** Values of one member, after which the server is assumed to refuse any value. */
const MAX_VALUES = 8;
const MAX_TEXT = 64;

/** The refusal of a member that a request has. */
export function refusalOf(member: OptionalMember | 'response_format', sent: Members): Refusal {
  const value = sent[member];
  const text = JSON.stringify(value) ?? '';
  return {
    of: `${member} ${conditionOf(member, sent)}`,
    value: text.length <= MAX_TEXT ? text : createHash('sha256').update(text).digest('base64url'),
  };
}

function conditionOf(member: string, sent: Members): string {
  const { response_format: format, reasoning_effort: effort } = sent;
  if (member === 'response_format' && isJsonObject(format)) return `${format.type}`;
  return member === 'temperature' && typeof effort === 'string' ? effort : '';
}

/** The first optional member that a request has and a server refuses. */
export function findRefused(
  sent: Members,
  isRefused: (member: string) => boolean,
): OptionalMember | undefined {
  return OPTIONAL.find((member) => sent[member] !== undefined && isRefused(member));
}

/** Whether a server refuses a member as a request has it. */
export function isRefused(refusals: readonly Refusal[], { of, value }: Refusal): boolean {
  const ofMember = refusals.filter((known) => known.of === of);
  return ofMember.length >= MAX_VALUES || ofMember.some((known) => known.value === value);
}

/** The refusals of both lists, each once. */
export function joinRefusals(some: readonly Refusal[], others: readonly Refusal[]): Refusal[] {
  const isKnown = ({ of, value }: Refusal) =>
    some.some((known) => known.of === of && known.value === value);
  return [...some, ...others.filter((other) => !isKnown(other))];
}

/** The members of a request without the optional ones that a server refuses. */
export function withoutRefused(members: Members, refusals: readonly Refusal[]): Members {
  if (refusals.length === 0) return members;
  const left: Record<string, unknown> = { ...members };
  for (const member of OPTIONAL) {
    if (left[member] !== undefined && isRefused(refusals, refusalOf(member, left))) {
      delete left[member];
    }
  }
  return left;
}
