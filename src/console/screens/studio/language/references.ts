import type { BlockName } from '../../../../language/grammar.ts';
import type { SourceRange } from '../../../../language/source.ts';
import type { Member } from '../../../../language/syntax.ts';
import { parseTemplate } from '../../../../language/template-parser.ts';
import type { Token } from '../../../../language/token.ts';
import { type Place, placesOf, type Syntax } from './syntax.ts';

/** A path in a template, such as `memory.city`, with the range of each of its names. */
export type TemplatePath = { path: readonly string[]; start: number; end: number; place: Place };

/** The words of requests. */
export const REQUESTS = ['get', 'post', 'put', 'patch', 'delete'];

/** Whether the strings after a word may hold templates. */
export function takesTemplates({ word }: Member, block: BlockName): boolean {
  if (block === 'agent') return word === 'prompt';
  if (block === 'capability') return REQUESTS.includes(word);
  return (block === 'request' || block === 'mcp') && word === 'header';
}

const ignore = () => {};

/** Lists the paths of all templates, in source order. */
export function templatePathsOf(syntax: Syntax): TemplatePath[] {
  return placesOf(syntax).flatMap((place) => {
    if (!takesTemplates(place.member, place.block)) return [];
    return textsOf(place.member).flatMap((token) =>
      parseTemplate(syntax.source, token, ignore).references.map(({ path, start, end }) => ({
        path,
        start,
        end,
        place,
      })),
    );
  });
}

/** The closed strings after a word. */
export function textsOf({ arguments: all }: Member): Token[] {
  return all.flatMap(({ kind, token }) => (kind === 'string' && !token.broken ? [token] : []));
}

/** The range of a path's name. @param at its index, 0 for the root. */
export function rangeInPath({ path, start }: TemplatePath, at: number): SourceRange {
  const from = path.slice(0, at).reduce((sum, name) => sum + name.length + 1, start);
  return { start: from, end: from + (path[at]?.length ?? 0) };
}

/** The names of the environment variables that a definition uses, sorted. */
export function envNamesOf(syntax: Syntax): string[] {
  const inTemplates = templatePathsOf(syntax).flatMap(({ path: [root, name] }) =>
    root === 'env' && name ? [name] : [],
  );
  const asArguments = placesOf(syntax).flatMap(({ member }) =>
    member.arguments.flatMap(({ kind, token }) => (kind === 'env' ? [token.text] : [])),
  );
  return [...new Set([...inTemplates, ...asArguments])].sort();
}

/** The names that the members of a block declare. */
export function namesIn(owner: Member | undefined): string[] {
  return owner?.block?.members.map(({ token }) => token.text) ?? [];
}

/** The declared facts. */
export function factsOf({ document }: Syntax): string[] {
  return namesIn(document?.agent.block?.members.find(({ word }) => word === 'memory'));
}

/** The declared inputs of a capability. */
export function inputsOf(capability: Member | undefined): string[] {
  return namesIn(capability?.block?.members.find(({ word }) => word === 'input'));
}
