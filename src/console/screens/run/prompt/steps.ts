import type {
  PromptRole,
  PromptStep,
  RunPromptQuery,
} from '../../../../generated/operations/console.ts';

export type Prompt = NonNullable<NonNullable<RunPromptQuery['run']>['prompt']>;

/** A part with its place in the request to the model, from 1 on. */
export type PlacedPart = Prompt['parts'][number] & { place: number };

/** The four steps of a chat in their order, by the names of the trace. */
const STEPS: { step: PromptStep; name: string; nothing: string }[] = [
  { step: 'LOAD_HISTORY', name: 'Load history', nothing: 'No messages of earlier turns.' },
  { step: 'INJECT_MEMORY', name: 'Inject memory', nothing: 'No facts about the user.' },
  { step: 'MERGE_CONTEXT', name: 'Merge context', nothing: 'The request had no context.' },
  { step: 'CALL_MODEL', name: 'Call model', nothing: 'Nothing.' },
];

export const ROLES: Record<PromptRole, string> = {
  SYSTEM: 'system',
  USER: 'user',
  ASSISTANT: 'assistant',
  TOOL: 'tool',
};

/** The steps with the parts that each added. */
export function stepsOf({ parts }: Prompt): ((typeof STEPS)[number] & { parts: PlacedPart[] })[] {
  const placed = parts.map((part, index) => ({ ...part, place: index + 1 }));
  return STEPS.map((step) => ({
    ...step,
    parts: placed.filter((part) => part.step === step.step),
  }));
}

/** The whole prompt as text, each part below its role. */
export function promptText({ parts }: Prompt): string {
  return parts
    .map(({ role, text }) => `[${ROLES[role]}]\n${text ?? '(not shown to this key)'}`)
    .join('\n\n');
}
