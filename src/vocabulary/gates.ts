/** What a definition must pass before it becomes active in production. */
type Gate = {
  tests: boolean;
  replay: {
    last: number;
    feedback: 'UP' | 'DOWN' | null;
    maxWorse: number;
    maxDiverged: number;
  } | null;
  repeat: number;
};

/** What a definition must pass, as a sentence that begins with a small letter. */
export function gateSentence({ tests, replay, repeat }: Gate): string {
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
