import { BOUNDS } from '../../../../language/bounds.ts';
import { callOf } from '../../../../language/check/test-tools.ts';
import { nameOf as textIn } from '../../../../language/check/values.ts';
import { MEMORY_GROUP } from '../../../../language/definition.ts';
import type { SourceRange } from '../../../../language/source.ts';
import type { Member } from '../../../../language/syntax.ts';
import type { Token } from '../../../../language/token.ts';
import { namesIn, rangeInPath, type TemplatePath, templatePathsOf, textsOf } from './references.ts';
import { type Place, placesOf, type Syntax } from './syntax.ts';

/** A name that can be changed, with all places that have it. */
export type Renaming = {
  kind: 'fact' | 'input' | 'capability' | 'group';
  name: string;
  /** The declaration and the uses, in source order. */
  ranges: SourceRange[];
  /** Names that the new one must not be. */
  taken: string[];
};

/** The name at an offset, if it can be changed. */
export function renamingAt(syntax: Syntax, offset: number): Renaming | undefined {
  const places = placesOf(syntax);
  const paths = templatePathsOf(syntax);
  const found = places
    .map((place) => renamingOf(place, places, paths))
    .find((renaming) =>
      renaming?.ranges.some(({ start, end }) => start <= offset && offset <= end),
    );
  return found && { ...found, ranges: found.ranges.sort((one, other) => one.start - other.start) };
}

/** What is wrong with a new name. */
export function nameFault(
  name: string,
  { name: before, taken, kind }: Renaming,
): string | undefined {
  if (name === before) return undefined;
  if (!/^[A-Za-z_]\w*$/.test(name))
    return 'A name has letters, digits and "_", and no digit first.';
  if (name.length > BOUNDS.nameLength) return `A name has at most ${BOUNDS.nameLength} characters.`;
  if (kind === 'group' && name === MEMORY_GROUP) return 'The memory tools have this name.';
  return taken.includes(name) ? `There is another ${kind} with this name.` : undefined;
}

function renamingOf(place: Place, places: Place[], paths: TemplatePath[]): Renaming | undefined {
  const { member, block, around } = place;
  const owner = around.at(-1);
  if (block === 'memory') {
    const { text } = member.token;
    const uses = usesOf(paths, 'memory', text);
    return {
      ...declaration('fact', member.token, namesIn(owner)),
      ranges: [member.token, ...uses, ...rememberedIn(places, text)],
    };
  }
  if (block === 'input') return ofInput(member, around, places, paths);
  const [name] = member.arguments;
  if (name?.kind !== 'name') return undefined;
  if (block === 'tools' && owner) {
    const calls = callsIn(places).filter(
      ({ group, tool }) => group.text === groupName(owner) && textIn(tool) === name.token.text,
    );
    return {
      ...declaration('capability', name.token, groupNames(owner.block?.members ?? [])),
      ranges: [
        name.token,
        ...mentions(places, `${groupName(owner)}\\.`, name.token.text, ''),
        ...calls.map(({ tool }) => withoutQuotes(tool)),
      ],
    };
  }
  if (block === 'agent' && member.word === 'tools' && (member.block || member.form))
    return {
      ...declaration('group', name.token, groupNames(places.map((one) => one.member))),
      ranges: [
        name.token,
        ...mentions(places, '', name.token.text, `\\.(?:${toolsOf(member)})`),
        ...callsIn(places)
          .map(({ group }) => group)
          .filter(({ text }) => text === name.token.text),
      ],
    };
  return undefined;
}

/** The places in tests that save a fact. */
function rememberedIn(places: Place[], name: string): Token[] {
  return places
    .filter(({ block, member }) => block === 'remembered' && member.token.text === name)
    .map(({ member }) => member.token);
}

/** The tools that tests name. */
function callsIn(places: Place[]): { group: Token; tool: Token }[] {
  return places
    .filter(({ block }) => block === 'test')
    .flatMap(({ member }) => callOf(member) ?? []);
}

/** The range of a name, which may be written in quotes. */
function withoutQuotes({ kind, start, end }: Token): SourceRange {
  return kind === 'string' ? { start: start + 1, end: end - 1 } : { start, end };
}

function declaration(kind: Renaming['kind'], { text: name }: Token, names: string[]) {
  return { kind, name, taken: names.filter((other) => other !== name) };
}

/** An input is used by the templates and the `query` of its capability. */
function ofInput(
  { token }: Member,
  around: readonly Member[],
  places: Place[],
  paths: TemplatePath[],
): Renaming {
  const capability = around.at(-2);
  const isInside = (place: Place) => capability !== undefined && place.around.includes(capability);
  const queries = places
    .filter((place) => isInside(place) && place.member.word === 'query')
    .flatMap(({ member }) => member.arguments.map((argument) => argument.token))
    .filter(({ text }) => text === token.text);
  const uses = usesOf(
    paths.filter(({ place }) => isInside(place)),
    'input',
    token.text,
  );
  return {
    ...declaration('input', token, namesIn(around.at(-1))),
    ranges: [token, ...queries, ...uses],
  };
}

function usesOf(paths: TemplatePath[], root: string, name: string): SourceRange[] {
  return paths
    .filter(({ path }) => path[0] === root && path[1] === name)
    .map((path) => rangeInPath(path, 1));
}

function groupName({ arguments: [first] }: Member): string {
  return first?.token.text ?? '';
}

function groupNames(members: readonly Member[]): string[] {
  return members
    .filter(({ word }) => word === 'tools' || word === 'capability')
    .map((member) => groupName(member));
}

/** A pattern of the tools of a group. The tools of a server are unknown. */
function toolsOf({ block, form }: Member): string {
  return form ? '\\w+' : groupNames(block?.members ?? []).join('|') || '(?!)';
}

/** The words whose texts may mention a tool by its full name, such as "orders.lookup". */
const WITH_MENTIONS = ['prompt', 'description', 'capability'];

/** Finds a name of a tool or a group in the texts for the model. @param before a pattern of what precedes it. */
function mentions(places: Place[], before: string, name: string, after: string): SourceRange[] {
  const pattern = new RegExp(
    `\\{\\{[^{}]*\\}\\}|(?<![\\w.])(${before})${name}(?=${after}(?!\\w))`,
    'g',
  );
  return places
    .filter(({ member }) => WITH_MENTIONS.includes(member.word))
    .flatMap(({ member }) => textsOf(member))
    .flatMap(({ text, start }) =>
      [...text.matchAll(pattern)]
        .filter(([found]) => !found.startsWith('{{'))
        .map(({ 1: prefix = '', index }) => {
          const from = start + index + prefix.length;
          return { start: from, end: from + name.length };
        }),
    );
}
