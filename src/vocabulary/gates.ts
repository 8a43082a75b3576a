import type { GateSettingsFragment } from '../../generated/operations/console.ts';

/** What a definition must pass, as a sentence. */
export function gateSentence({ tests, replay, repeat }: GateSettingsFragment): string {
  const rules = [
    ...(tests ? ['all tests must pass'] : []),
    ...(replay
      ? [
          `of the last ${replay.last} ${RATED[replay.feedback ?? 'ALL']}runs, at most ${replay.maxWorse} may be worse and ${replay.maxDiverged} may diverge`,
        ]
      : []),
  ];
  return `${rules.join('; ')}${repeat > 1 ? `, each ${repeat} times` : ''}.`;
}

const RATED = { ALL: '', UP: 'well-rated ', DOWN: 'badly rated ' };
