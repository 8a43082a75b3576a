import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SEVERITIES } from '../../src/language/diagnostic.ts';
import { formatSource } from '../../src/language/format.ts';
import { problemsOf } from './helpers.ts';
import { AGENT } from './manual/agent.ts';
import { CHANNELS } from './manual/channels.ts';
import { FILES } from './manual/files.ts';
import { INPUTS } from './manual/inputs.ts';
import { LAYOUT } from './manual/layout.ts';
import { PROBLEMS } from './manual/problems.ts';
import { TEMPLATES } from './manual/templates.ts';
import { TOOLS } from './manual/tools.ts';
import { VALUES } from './manual/values.ts';

const MANUAL = readFileSync(new URL('../../src/language/README.md', import.meta.url), 'utf8');

/** The manual's chapters, in its order. */
const CHAPTERS = {
  Files: FILES,
  Values: VALUES,
  'The agent': AGENT,
  Channels: CHANNELS,
  Tools: TOOLS,
  'How inputs travel': INPUTS,
  Templates: TEMPLATES,
  Problems: PROBLEMS,
  Layout: LAYOUT,
};

describe('the manual', () => {
  for (const [chapter, sentences] of Object.entries(CHAPTERS))
    describe(chapter, () => {
      for (const [sentence, prove] of Object.entries(sentences)) test(sentence, prove);
    });

  test('has exactly these sentences, in this order', () => {
    const text = MANUAL.replace(/^```[\s\S]*?^```$/gm, '');
    const sentences = text.split('\n').filter((line) => line.startsWith('- '));
    const proved = Object.values(CHAPTERS).flatMap((chapter) => Object.keys(chapter));
    expect(sentences).toEqual(proved.map((sentence) => `- ${sentence}`));
  });

  test('lists every code with its severity', () => {
    const rows = [...MANUAL.matchAll(/^\| `([\w-]+)` \| (error|warning)/gm)];
    const listed = rows.map(([, code, severity]) => [code, severity?.toUpperCase()]);
    expect(listed).toEqual(Object.entries(SEVERITIES));
  });

  test('has a correct and formatted example', () => {
    const [, example = ''] = /^```\n(agentlang 5[\s\S]*?)^```$/m.exec(MANUAL) ?? [];
    expect(problemsOf(example)).toEqual([]);
    expect(formatSource(example)).toBe(example);
  });
});
