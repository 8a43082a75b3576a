import { METHODS } from './check/requests.ts';
import { stringsOf } from './check/values.ts';
import { parseSource } from './parser.ts';
import { createSource, isTooLarge, type Position, rangeAt, type Source } from './source.ts';
import { stringValue } from './strings.ts';
import type { Member } from './syntax.ts';
import type { Template } from './template.ts';
import { parseTemplate } from './template-parser.ts';
import type { Token } from './token.ts';

/**
 * The scheme, host and port of a URL, with references to variables, and its path up to the first template. A single
 * reference is a whole URL. An empty template is OpenAI's own destination, the default of a model.
 */
export type Destination = Template;

/** A position in a source that sends a variable's value to a destination. */
export type EnvDestination = { name: string; destination: Destination } & Position;

const ignore = () => {};
const SCHEME = /^https?:\/\//i;

/**
 * Lists the destinations that receive variables of a source, in URLs, headers and model keys, in source order. It omits
 * Telegram's token, because the operator chooses that server. For an invalid source it lists the destinations in the blocks that parse.
 */
export function envDestinations(input: string): EnvDestination[] {
  if (isTooLarge(input)) return [];
  const source = createSource(input);
  const agent = parseSource(source, ignore)?.document.agent;
  return (agent?.block?.members ?? []).flatMap((member) => {
    if (member.word === 'model') return ofModel(member, source);
    if (member.word !== 'tools') return [];
    return member.form === 'mcp' ? ofMcpServer(member, source) : ofCapabilities(member, source);
  });
}

function ofModel({ block }: Member, source: Source): EnvDestination[] {
  const settings = block?.members ?? [];
  const destination = addressOf(settings.find(({ word }) => word === 'base_url'));
  return settings
    .filter(({ word }) => word === 'base_url' || word === 'api_key')
    .flatMap((setting) => envArguments(setting, destination, source));
}

function ofMcpServer(group: Member, source: Source): EnvDestination[] {
  const destination = addressOf(group);
  return [...envArguments(group, destination, source), ...ofHeaders(group, destination, source)];
}

function ofCapabilities(group: Member, source: Source): EnvDestination[] {
  const capabilities = group.block?.members ?? [];
  const requests = capabilities.flatMap(({ block }) => block?.members ?? []);
  return requests.flatMap((request) => {
    const [url] = METHODS.has(request.word) ? stringsOf(request) : [];
    if (!url) return [];
    const destination = destinationOf(parseTemplate(source, url, ignore).template);
    return [...envReferences(url, destination, source), ...ofHeaders(request, destination, source)];
  });
}

function ofHeaders({ block }: Member, destination: Destination, source: Source): EnvDestination[] {
  const headers = block?.members.filter(({ word }) => word === 'header') ?? [];
  return headers.flatMap((header) => {
    const [, value] = stringsOf(header);
    return value ? envReferences(value, destination, source) : [];
  });
}

/** The destination of a URL or an `env.NAME` after a word. */
function addressOf(member: Member | undefined): Destination {
  const [url] = stringsOf(member);
  if (url) return destinationOf([stringValue(url)]);
  const reference = member?.arguments.find(({ kind }) => kind === 'env');
  return reference ? [{ path: ['env', reference.token.text] }] : [];
}

/** The part of a URL before its query, and before the first template in its path. */
function destinationOf(url: Template): Destination {
  const destination: Destination = [];
  let isInPath = false;
  for (const part of url) {
    if (typeof part !== 'string') {
      if (isInPath) break;
      destination.push(part);
      continue;
    }
    const scheme = destination.length === 0 ? (SCHEME.exec(part)?.[0] ?? '') : '';
    const [rest = ''] = part.slice(scheme.length).split(/[?#]/, 1);
    destination.push(scheme + rest);
    isInPath ||= rest.includes('/');
    if (scheme.length + rest.length < part.length) break;
  }
  return destination;
}

function envArguments(member: Member, destination: Destination, source: Source): EnvDestination[] {
  const references = member.arguments.filter(({ kind }) => kind === 'env');
  return references.map(({ token }) => ({
    name: token.text,
    destination,
    ...rangeAt(source, token),
  }));
}

function envReferences(text: Token, destination: Destination, source: Source): EnvDestination[] {
  const { references } = parseTemplate(source, text, ignore);
  return references.flatMap(({ path: [root, name], ...range }) =>
    root === 'env' && name !== undefined ? [{ name, destination, ...rangeAt(source, range) }] : [],
  );
}
