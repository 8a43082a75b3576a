import { expect } from 'vitest';
import { accentColors, contrastOnPage } from '../../../src/language/accent.ts';
import { readDefinition } from '../../../src/language/read.ts';
import { agentWith, codesOf, define, many } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

export const CHANNEL: Sentences = {
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
  '`title` of `channel web` is the title of the chat page; by default it is the name of the agent.':
    () => {
      const web = agentWith('  channel web { title "ACME" }');
      expect(define(web).channels).toMatchObject([{ title: 'ACME' }]);
      expect(define(agentWith('  channel web')).channels[0]).not.toHaveProperty('title', '');
      expect(codesOf(agentWith('  channel web { title "" }'))).toEqual(['empty-text']);
      expect(codesOf(agentWith('  channel telegram { token env.T title "ACME" }'))).toEqual([
        'unknown-setting',
      ]);
    },
  '`accent` of `channel web` is the colour of the chat page, as in `"#403cbf"`: its contrast with the light page is at least 4.5:1.':
    () => {
      const web = (accent: string) => agentWith(`  channel web { accent "${accent}" }`);
      expect(define(web('#403CBF')).channels).toMatchObject([{ accent: '#403CBF' }]);
      for (const readable of ['#000000', '#0b6e5f', '#757575', '#c2185b'])
        expect(codesOf(web(readable))).toEqual([]);
      for (const pale of ['#ffffff', '#ffee00', '#fdfdfc', '#797979', '#57d3b9'])
        expect(codesOf(web(pale))).toEqual(['low-contrast']);
      for (const wrong of ['red', '#403cb', '#403cbff', '403cbf', '#403cbg', 'rgb(0,0,0)', '#FFF'])
        expect(codesOf(web(wrong))).toEqual(['invalid-color']);
    },
  'Parley derives the accent of the dark page from `accent`, with a contrast of at least 7:1.':
    () => {
      const { light, dark } = accentColors('#403CBF');
      expect(light).toMatchObject({ accent: '#403cbf', ink: '#ffffff' });
      // The dark page and white ink are the bounds of the contrast.
      expect(dark.accent).toMatch(/^#[\da-f]{6}$/);
      expect(contrastOnPage(dark.accent)).toBeLessThan(contrastOnPage(light.accent));
    },
  '`channel telegram` needs a `token`, which is `env.NAME`.': () => {
    expect(codesOf(agentWith('  channel telegram'))).toEqual(['missing-token']);
    expect(codesOf(agentWith('  channel telegram {}'))).toEqual(['missing-token']);
    expect(codesOf(agentWith('  channel telegram { token "x" }'))).toEqual(['syntax']);
    expect(codesOf(agentWith('  channel telegram { token env.T }'))).toEqual([]);
  },
  '`approvers` of `channel telegram` names the chats whose members decide about [approvals](#approval): `env.NAME` or a string.':
    () => {
      const telegram = (approvers: string) =>
        agentWith(`  channel telegram { token env.T approvers ${approvers} }`);
      const { definition, envNames } = readDefinition(telegram('env.CHATS'));
      expect(definition?.channels).toMatchObject([{ approvers: { env: 'CHATS' } }]);
      expect(envNames).toEqual(['CHATS', 'T']);
      const unset = readDefinition(telegram('env.CHATS'), { envNames: ['T'] });
      expect(unset.diagnostics).toMatchObject([{ code: 'env-unset', severity: 'WARNING' }]);
      expect(define(telegram('"4711"')).channels).toMatchObject([{ approvers: [4711] }]);
      expect(codesOf(telegram('4711'))).toEqual(['syntax']);
      expect(codesOf(agentWith('  channel web { approvers env.CHATS }'))).toEqual([
        'unknown-setting',
      ]);
    },
  '`approvers` has 1 to 32 chat ids, whole numbers separated by commas; the id of a group is negative.':
    () => {
      const telegram = (approvers: string) =>
        agentWith(`  channel telegram { token env.T approvers "${approvers}" }`);
      const { channels } = define(telegram(' 4711, -1001234567890,4711 '));
      expect(channels).toMatchObject([{ approvers: [4711, -1_001_234_567_890] }]);
      expect(codesOf(telegram(many(32, (index) => `${index + 1}`, ',')))).toEqual([]);
      for (const wrong of [
        '',
        '0',
        '01',
        '4711,',
        '@ada',
        '1.5',
        '1e3',
        '4711 4712',
        '9007199254740993',
        many(33, (index) => `${index + 1}`, ','),
      ])
        expect(codesOf(telegram(wrong))).toEqual(['invalid-chat']);
    },
  'A title has at most 60 characters.': () => {
    const web = (length: number) => agentWith(`  channel web { title "${'t'.repeat(length)}" }`);
    expect(codesOf(web(60))).toEqual([]);
    for (const length of [61, 10_000]) expect(codesOf(web(length))).toEqual(['too-long']);
  },
  'A welcome has at most 2000 characters, and a suggestion at most 200.': () => {
    for (const channel of ['web', 'telegram']) {
      const token = channel === 'telegram' ? 'token env.T ' : '';
      const welcome = (length: number) =>
        agentWith(`  channel ${channel} { ${token}welcome "${'w'.repeat(length)}" }`);
      expect(codesOf(welcome(2_000))).toEqual([]);
      expect(codesOf(welcome(2_001))).toEqual(['too-long']);
      const suggestion = (length: number) =>
        agentWith(`  channel ${channel} { ${token}suggestions "a", "${'s'.repeat(length)}" }`);
      expect(codesOf(suggestion(200))).toEqual([]);
      expect(codesOf(suggestion(201))).toEqual(['too-long']);
    }
  },
  'A channel has at most 8 suggestions.': () => {
    const web = (count: number) =>
      agentWith(`  channel web { suggestions ${many(count, (index) => `"s${index}"`, ', ')} }`);
    expect(codesOf(web(8))).toEqual([]);
    expect(codesOf(web(9))).toEqual(['too-many']);
  },
  'A definition that was deployed before these limits existed still runs; Parley cuts what exceeds them.':
    () => {
      const list = many(21, (index) => `"${index}${'😀'.repeat(150)}"`, ', ');
      const members = `  channel web { welcome "${'w'.repeat(2_001)}" suggestions ${list} }`;
      const source = agentWith(members).replace(/agent ".*?"/, `agent "${'n'.repeat(201)}"`);
      expect(codesOf(source)).toEqual([...Array<string>(10).fill('too-long'), 'too-many']);
      const { definition, diagnostics } = readDefinition(source, { isDeployed: true });
      expect(diagnostics).toEqual([]);
      expect(definition?.name).toBe(`${'n'.repeat(199)}…`);
      const [channel] = definition?.channels ?? [];
      expect(channel?.welcome).toBe(`${'w'.repeat(1_999)}…`);
      expect(channel?.suggestions).toHaveLength(8);
      // The cut keeps whole characters.
      expect(channel?.suggestions[0]).toBe(`0${'😀'.repeat(99)}…`);
    },
};
