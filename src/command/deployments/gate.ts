import { ChangeGate, Gate, type GateSettingsFragment } from '../../generated/operations/command.ts';
import { gateSentence } from '../../vocabulary/gates.ts';
import { toUpperCase } from '../../vocabulary/names.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../errors.ts';
import { connect } from '../server/connection.ts';

export type GateOptions = {
  tests: boolean;
  /** The recorded runs that are repeated. */
  replay:
    | {
        last: number;
        feedback: 'up' | 'down' | undefined;
        maxWorse: number | undefined;
        maxDiverged: number | undefined;
      }
    | undefined;
  repeat: number | undefined;
};

/** Shows the gate of a bot. */
export async function showGate(bot: string | undefined, context: Context): Promise<void> {
  const { graphql, botId: botOf, forBot } = await connect(context);
  const botId = botOf(bot);
  const answer = await forBot(botId, () => graphql.run(Gate, { botId }, context.signal));
  const gate = answer.bot?.gate ?? null;
  await context.print(gate, () =>
    gate === null
      ? `"${botId}" has no gate. A deploy becomes active without an evaluation. Set one: parley gate set --bot ${botId}`
      : sentenceOf(botId, gate),
  );
}

/** Replaces the gate of a bot. */
export async function setGate(
  bot: string | undefined,
  { replay, ...rules }: GateOptions,
  context: Context,
): Promise<void> {
  const { graphql, botId: botOf, forBot } = await connect(context);
  const botId = botOf(bot);
  const feedback = replay?.feedback && toUpperCase(replay.feedback);
  const gate = { ...rules, replay: replay && { ...replay, feedback } };
  const { updateBot } = await forBot(botId, () =>
    graphql.run(ChangeGate, { id: botId, gate }, context.signal),
  );
  const set = updateBot?.gate;
  if (!set) throw new Refusal('The server returned no gate.');
  await context.print(
    set,
    () =>
      `${sentenceOf(botId, set)}\nIt holds from the next deploy on: parley deploy FILE --bot ${botId}`,
  );
}

/** Removes the gate of a bot. */
export async function removeGate(bot: string | undefined, context: Context): Promise<void> {
  const { graphql, botId: botOf, forBot } = await connect(context);
  const botId = botOf(bot);
  await forBot(botId, () => graphql.run(ChangeGate, { id: botId, gate: null }, context.signal));
  await context.print(null, () => `"${botId}" has no gate.`);
}

function sentenceOf(botId: string, gate: GateSettingsFragment): string {
  return `Gate of ${botId} (production): ${gateSentence(gate)}`;
}
