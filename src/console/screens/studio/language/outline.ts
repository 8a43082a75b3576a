import { nameOf as textIn } from '../../../../language/check/values.ts';
import type { Member } from '../../../../language/syntax.ts';
import { quantity } from '../../../numbers.ts';
import { REQUESTS, templatePathsOf } from './references.ts';
import { type Place, placesOf, type Syntax } from './syntax.ts';

/** A place of the definition to jump to. */
export type Entry = {
  name: string;
  /** A short text beside the name, such as the method of a request. */
  detail: string;
  /** The offset of its first use or its declaration. */
  start: number;
};

export type Outline = {
  settings: Entry[];
  facts: Entry[];
  channels: Entry[];
  tools: Entry[];
  tests: Entry[];
  /** Environment variables, by name. */
  variables: Entry[];
};

const LISTED_ELSEWHERE = ['memory', 'channel', 'tools', 'test'];

/** Lists what a definition declares and uses, each in source order but the variables. */
export function outlineOf(syntax: Syntax): Outline {
  const places = placesOf(syntax);
  const inAgent = places.filter(({ block }) => block === 'agent');
  const entry = ({ member }: Place, detail: string): Entry => ({
    name: member.token.text,
    detail,
    start: member.token.start,
  });
  return {
    settings: inAgent
      .filter(({ member }) => !LISTED_ELSEWHERE.includes(member.word))
      .map((place) => entry(place, summaryOf(place.member))),
    facts: places.filter(({ block }) => block === 'memory').map((place) => entry(place, '')),
    channels: inAgent
      .filter(({ member }) => member.word === 'channel')
      .map(({ member }) => ({ name: nameOf(member), detail: '', start: member.token.start })),
    tools: places.flatMap(toolsAt),
    tests: inAgent.filter(({ member }) => member.word === 'test').map(testAt),
    variables: variablesOf(syntax, places),
  };
}

/** The start of a setting's value, if it is short. */
function summaryOf({ word, arguments: [first], block }: Member): string {
  if (word === 'prompt' || !first) return block ? `${block.members.length}` : '';
  const text = first.token.text.replaceAll('"', '');
  return text.length > 32 ? `${text.slice(0, 31)}…` : text;
}

function toolsAt({ member, block, around }: Place): Entry[] {
  const { start } = member.token;
  if (block === 'tools' && member.word === 'capability') {
    const group = around.at(-1);
    const request = member.block?.members.find(({ word }) => REQUESTS.includes(word));
    const name = `${group ? nameOf(group) : ''}.${nameOf(member)}`;
    return [{ name, detail: withApproval(request?.word.toUpperCase() ?? '', member), start }];
  }
  if (block !== 'agent' || member.word !== 'tools') return [];
  if (member.form === 'mcp')
    return [{ name: `${nameOf(member)}.*`, detail: withApproval('MCP', member), start }];
  return member.block ? [] : [{ name: nameOf(member), detail: 'built in', start }];
}

function testAt({
  member: {
    arguments: [name],
    block,
    token,
  },
}: Place): Entry {
  const turns = block?.members.filter(({ word }) => word === 'user').length ?? 0;
  return {
    name: name ? textIn(name.token) : token.text,
    detail: quantity(turns, 'turn'),
    start: token.start,
  };
}

/** Adds to a tool's detail that calls need approval. */
function withApproval(detail: string, { block }: Member): string {
  const asks = block?.members.some(({ word }) => word === 'approval');
  return asks ? `${detail}, approval` : detail;
}

function nameOf({ arguments: [first], token }: Member): string {
  return first?.kind === 'name' ? first.token.text : token.text;
}

function variablesOf(syntax: Syntax, places: Place[]): Entry[] {
  const uses = [
    ...places.flatMap(({ member }) =>
      member.arguments.flatMap(({ kind, token }) =>
        kind === 'env' ? [{ name: token.text, start: token.start }] : [],
      ),
    ),
    ...templatePathsOf(syntax).flatMap(({ path: [root, name], start }) =>
      root === 'env' && name ? [{ name, start }] : [],
    ),
  ].sort((one, other) => one.start - other.start);
  return [...Map.groupBy(uses, ({ name }) => name)]
    .map(([name, all]) => ({
      name,
      detail: quantity(all.length, 'use'),
      start: all[0]?.start ?? 0,
    }))
    .sort((one, other) => one.name.localeCompare(other.name, 'en'));
}
