import { expect } from 'vitest';
import { agentWith, agentWithPrompt, codesOf, define } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const AGENT: Sentences = {
  "Of an agent's settings only `prompt` is required.": () => {
    expect(define('agentlang 5 agent "A" { prompt "p" }').prompt).toEqual(['p']);
    expect(codesOf('agentlang 5 agent "A" { description "d" }')).toEqual(['missing-prompt']);
  },
  '`prompt` is a string or a text in three quotes, and may hold templates; over 16 KiB there is a warning.':
    () => {
      expect(define(agentWithPrompt('"a {{ now }}"')).prompt).toEqual(['a ', { path: ['now'] }]);
      expect(define(agentWithPrompt('"""a {{ now }}"""')).prompt).toEqual([
        'a ',
        { path: ['now'] },
      ]);
      expect(codesOf(agentWithPrompt(`"${'é'.repeat(8_192)}"`))).toEqual([]);
      expect(codesOf(agentWithPrompt(`"${'é'.repeat(8_192)}!"`))).toEqual(['long-prompt']);
    },
  '`description` tells people what the agent is for; without it there is a warning.': () => {
    expect(define(agentWith('')).description).toBe('d');
    expect(codesOf('agentlang 5 agent "A" { prompt "p" }')).toEqual(['missing-description']);
  },
  '`history last 20 messages` sets how many messages are sent to the model: 0 to 500; the default is 40.':
    () => {
      expect(define(agentWith('  history last 20 messages')).history).toBe(20);
      expect(define(agentWith('  history last 500 messages')).history).toBe(500);
      expect(codesOf(agentWith('  history last 501 messages'))).toEqual(['out-of-range']);
      expect(define(agentWith('')).history).toBe(40);
    },
  '`history none` is the same as `history last 0 messages`.': () => {
    expect(define(agentWith('  history none'))).toEqual(
      define(agentWith('  history last 0 messages')),
    );
    expect(define(agentWith('  history none')).history).toBe(0);
  },
  'The name of the agent has at most 200 characters.': () => {
    const named = (name: string) => agentWith('').replace(/agent ".*?"/, `agent "${name}"`);
    expect(define(named('n'.repeat(200))).name).toHaveLength(200);
    expect(codesOf(named('n'.repeat(201)))).toEqual(['too-long']);
  },
};
