import type { PromptRole, PromptStep, RunPromptQuery } from '../../generated/operations/console.ts';

export type Prompt = NonNullable<NonNullable<RunPromptQuery['run']>['prompt']>;

/** The source of a part of the prompt. */
export type PartKind = 'definition' | 'memory' | 'context' | 'history' | 'message';

/** A part with its place in the request to the model, from 1 on. */
export type PlacedPart = Prompt['parts'][number] & { place: number; kind: PartKind };

/** Parts of one kind that follow one another, with their share of the prompt. */
export type Band = {
  kind: PartKind;
  parts: PlacedPart[];
  /** Characters, `undefined` if a part is hidden from the key. */
  length: number | undefined;
};

export const ROLES: Record<PromptRole, string> = {
  SYSTEM: 'system',
  USER: 'user',
  ASSISTANT: 'assistant',
  TOOL: 'tool',
};

export const KINDS: Record<PartKind, { name: string; nothing: string }> = {
  definition: { name: 'Definition', nothing: 'The definition has no prompt.' },
  memory: { name: 'Memory', nothing: 'No facts about the user.' },
  context: { name: 'Context', nothing: 'The request had no context.' },
  history: { name: 'History', nothing: 'No messages of earlier turns.' },
  message: { name: 'Message', nothing: 'No message.' },
};

const BY_STEP: Record<PromptStep, PartKind | undefined> = {
  LOAD_HISTORY: 'history',
  INJECT_MEMORY: 'memory',
  MERGE_CONTEXT: 'context',
  CALL_MODEL: undefined,
};

/** The parts in the order in which the model reads them, with all parts of one source together. */
export function bandsOf({ parts }: Prompt): Band[] {
  const bands: Band[] = [];
  for (const [index, part] of parts.entries()) {
    const kind = BY_STEP[part.step] ?? (part.role === 'SYSTEM' ? 'definition' : 'message');
    const last = bands.at(-1);
    const band = last?.kind === kind ? last : { kind, parts: [], length: 0 };
    if (band !== last) bands.push(band);
    band.parts.push({ ...part, kind, place: index + 1 });
    const length = part.text?.length;
    band.length =
      length === undefined || band.length === undefined ? undefined : band.length + length;
  }
  return bands;
}

/** Shares out the tokens of a request by the length of its parts. Without all lengths, nothing is known. */
export function sharesOf(
  bands: readonly Band[],
  tokens: number | undefined,
): (number | undefined)[] {
  const total = bands.reduce((sum, { length = Number.NaN }) => sum + length, 0);
  return bands.map(({ length }) =>
    tokens === undefined || length === undefined || !(total > 0)
      ? undefined
      : Math.round((tokens * length) / total),
  );
}

/** The whole prompt as text, each part below its role. */
export function promptText({ parts }: Prompt): string {
  return parts
    .map(({ role, text }) => `[${ROLES[role]}]\n${text ?? '(not shown to this key)'}`)
    .join('\n\n');
}
