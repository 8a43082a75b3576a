import { expect } from 'vitest';
import type { Approval } from '../../../src/language/definition.ts';
import { approvalOf } from '../../../src/language/effects.ts';
import { agentWith, agentWithCapability, capabilityOf, codesOf, define } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const POST = 'post "https://a.example/"';
const inServer = (settings: string) => agentWith(`  tools g mcp env.U {\n${settings}\n  }`);

/** The approval of a tool of a server with these settings. */
function approvalIn(settings: string, tool: string): Approval | null {
  const [group] = define(inServer(settings)).tools;
  return group?.type === 'mcp' ? approvalOf(group, tool) : expect.fail('no MCP group');
}

export const APPROVAL: Sentences = {
  '`approval` may have a sentence for the person who decides; the model never reads it.': () => {
    expect(capabilityOf(`approval ${POST}`).approval).toMatchObject({ reason: null });
    const { approval } = capabilityOf(`approval "Refunds \\"at once\\"." ${POST}`);
    expect(approval).toMatchObject({ reason: 'Refunds "at once".' });
    expect(approvalIn('approval merge "It goes live."', 'merge')).toMatchObject({
      reason: 'It goes live.',
    });
    expect(codesOf(agentWithCapability(`approval " " ${POST}`))).toEqual(['empty-text']);
  },
  '`expires` is 1m to 7d, after which a call that waits is given up; the default is 24h.': () => {
    const expiring = (duration: string) => `approval { expires ${duration} } ${POST}`;
    for (const [duration, expiresSeconds] of [
      ['1m', 60],
      ['60000ms', 60],
      ['90.4s', 90],
      ['2h', 7_200],
      ['7d', 604_800],
      ['168h', 604_800],
    ] as const) {
      expect(capabilityOf(expiring(duration)).approval).toMatchObject({ expiresSeconds });
      expect(approvalIn(`approval all { expires ${duration} }`, 'merge')).toMatchObject({
        expiresSeconds,
      });
    }
    for (const duration of ['0s', '59s', '59999ms', '7.01d', '169h', '999999999999999999d'])
      expect(codesOf(agentWithCapability(expiring(duration)))).toEqual(['out-of-range']);
    for (const settings of ['approval', 'approval {}', 'approval "s"'])
      expect(capabilityOf(`${settings} ${POST}`).approval).toMatchObject({
        expiresSeconds: 86_400,
      });
  },
  '`approval` of a server names tools, separated by commas, or `all`.': () => {
    const named = 'approval merge, "get-issue" "s" { expires 1h }';
    for (const tool of ['merge', 'get-issue'])
      expect(approvalIn(named, tool)).toEqual({ reason: 's', expiresSeconds: 3_600 });
    expect(approvalIn(named, 'search')).toBeNull();
    expect(approvalIn('', 'merge')).toBeNull();
    for (const settings of ['approval', 'approval { expires 1h }', 'approval\napproval a'])
      expect(codesOf(inServer(settings))).toContain('syntax');
    expect(codesOf(inServer('approval "A merge goes live."'))).toEqual(['invalid-name']);
    expect(codesOf(inServer('approval merge, all'))).toEqual(['reserved-name']);
    expect(codesOf(inServer('approval all, merge'))).toEqual(['reserved-name']);
  },
  '`all` covers every tool without an approval by name, also tools that the server adds later.':
    () => {
      for (const settings of [
        'approval all "any" { expires 1h }\napproval merge "live"',
        'approval merge "live"\napproval all "any" { expires 1h }',
      ]) {
        expect(approvalIn(settings, 'merge')).toEqual({ reason: 'live', expiresSeconds: 86_400 });
        expect(approvalIn(settings, 'added_later')).toEqual({
          reason: 'any',
          expiresSeconds: 3_600,
        });
      }
      expect(approvalIn('reads search\napproval all', 'search')).not.toBeNull();
    },
  'Several `approval` of one server may have different sentences; each names other tools, and at most one is `all`.':
    () => {
      const settings = 'approval a "one"\napproval b, c "two"';
      expect(approvalIn(settings, 'a')).toMatchObject({ reason: 'one' });
      expect(approvalIn(settings, 'c')).toMatchObject({ reason: 'two' });
      expect(codesOf(inServer('approval a, b\napproval "a"'))).toEqual(['duplicate-name']);
      expect(codesOf(inServer('approval a, a'))).toEqual(['duplicate-name']);
      expect(codesOf(inServer('approval all\napproval all'))).toEqual(['duplicate-name']);
    },
  'In an `approval` of a server, a tool that is called `all` is written in quotes, and so is a tool with the name of a setting at the start of a line.':
    () => {
      expect(approvalIn('approval "all"', 'all')).not.toBeNull();
      expect(approvalIn('approval "all"', 'merge')).toBeNull();
      expect(approvalIn('approval reads', 'reads')).not.toBeNull();
      expect(approvalIn('approval\n"reads"', 'reads')).not.toBeNull();
      expect(codesOf(inServer('approval\nreads a'))).toEqual(['syntax']);
    },
  'The sentence of an approval has at most 500 characters.': () => {
    const sentence = (length: number) => `approval "${'s'.repeat(length)}" ${POST}`;
    expect(codesOf(agentWithCapability(sentence(500)))).toEqual([]);
    expect(codesOf(agentWithCapability(sentence(501)))).toEqual(['too-long']);
  },
};
