import { expect } from 'vitest';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const CHANNELS: Sentences = {
  'The channels are `web` and `telegram`, each at most once.': () => {
    const telegram = '  channel telegram { token env.T }\n';
    expect(readDefinition(agentWith(`  channel web\n${telegram}`)).channels).toEqual([
      'web',
      'telegram',
    ]);
    expect(codesOf(agentWith(telegram.repeat(2)))).toEqual(['duplicate-name']);
    expect(codesOf(agentWith('  channel sms'))).toEqual(['unknown-channel']);
  },
  'A channel may have a `welcome`, and `suggestions` separated by commas.': () => {
    const web = '  channel web { welcome "Hi" suggestions "a", "b" }';
    expect(define(agentWith(web)).channels).toEqual([
      { type: 'web', welcome: 'Hi', suggestions: ['a', 'b'] },
    ]);
    expect(define(agentWith('  channel web')).channels).toEqual([{ type: 'web', suggestions: [] }]);
    const telegram = '  channel telegram { token env.T welcome "Hi" suggestions "a" }';
    expect(define(agentWith(telegram)).channels).toEqual([
      { type: 'telegram', token: { env: 'T' }, welcome: 'Hi', suggestions: ['a'] },
    ]);
  },
  'A channel has at most 20 suggestions.': () => {
    const web = (count: number) =>
      agentWith(`  channel web { suggestions ${many(count, (index) => `"s${index}"`, ', ')} }`);
    expect(codesOf(web(20))).toEqual([]);
    expect(codesOf(web(21))).toEqual(['too-many']);
  },
  '`channel telegram` needs a `token`, which is `env.NAME`.': () => {
    expect(codesOf(agentWith('  channel telegram'))).toEqual(['missing-token']);
    expect(codesOf(agentWith('  channel telegram {}'))).toEqual(['missing-token']);
    expect(codesOf(agentWith('  channel telegram { token "x" }'))).toEqual(['syntax']);
    expect(codesOf(agentWith('  channel telegram { token env.T }'))).toEqual([]);
  },
};
