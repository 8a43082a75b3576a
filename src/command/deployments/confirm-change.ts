import type { Context } from '../context.ts';
import { Refusal, UsageError } from '../errors.ts';
import { openPrompts } from '../terminal/prompts.ts';
import { sourceDiff } from './source-diff.ts';

type Change = {
  /** The source that runs; none: nothing runs. */
  before: string | undefined;
  after: string;
  /** The names of variables whose values change. */
  variables?: readonly string[];
  question: string;
};

/** @throws UsageError if the command would have to ask, but there is no terminal. */
export function assertCanConfirm(name: string, yes: boolean, { terminal }: Context): void {
  if (!yes && !terminal.canAsk)
    throw new UsageError(
      `parley ${name} asks before it changes what runs. Without a terminal, add --yes.`,
    );
}

/** Shows the changes to the running definition, and asks for confirmation unless `yes`. @throws Refusal if the user declines. */
export async function confirmChange(
  { before, after, variables = [], question }: Change,
  yes: boolean,
  { terminal }: Context,
): Promise<void> {
  const { errorStyle, note, progress } = terminal;
  const diff = before === undefined ? undefined : sourceDiff(before, after, errorStyle);
  if (diff === undefined) progress('Nothing runs yet in this environment.');
  else if (diff === '') progress('The definition already runs.');
  else progress(diff);
  if (variables.length > 0) progress(`Variables that are set: ${variables.join(', ')}`);
  if (yes) return;
  const { confirm } = await openPrompts(terminal);
  if (await confirm(question)) return;
  note('Nothing was changed.');
  throw new Refusal('You declined.');
}
