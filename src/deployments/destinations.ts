import { type EnvDestination, envDestinations, type Server } from '../language/destinations.ts';
import { looksLikeSecret } from '../language/secrets.ts';
import { type Lookup, lookupIn, renderUrl, TextLimitError } from '../language/template.ts';
import { OPENAI_BASE_URL } from '../model/openai.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** A source and its variables. */
export type VariableUse = { source: string; variables: EnvironmentVariables };

const OPENAI_ORIGIN = new URL(OPENAI_BASE_URL).origin;
/** Servers that are compared. A valid source has fewer; the comparison of an invalid source ignores the rest. */
const MAX_SERVERS = 256;
/** Characters shown of a server's name in a message. */
const MAX_SHOWN = 200;

/**
 * Reports an error for each carried-over variable that a deploy would send to a server to which the previous deployment
 * did not send it. The error is at the first such position in the source. Servers are compared by scheme, host and port,
 * after variables in their addresses are resolved.
 *
 * @param sent names of the variables whose values are part of the request. They may go to any server.
 */
export function newDestinations(
  { source, variables }: VariableUse,
  before: VariableUse,
  sent: ReadonlySet<string>,
): DeploymentDiagnostic[] {
  const isCarried = (name: string) => !sent.has(name) && Object.hasOwn(variables, name);
  if (!Object.keys(variables).some(isCarried)) return [];
  /** The variables that each origin got. A key of both would copy an origin's text for each variable. */
  const known = new Map<string, Set<string>>();
  const isNew = (name: string, origin: string) => {
    const names = known.get(origin) ?? new Set();
    if (names.has(name)) return false;
    known.set(origin, names.add(name));
    return true;
  };
  for (const { name, origin } of originsOf(before)) isNew(name, origin);
  return originsOf({ source, variables }).flatMap(({ origin, name, server, ...position }) => {
    if (!isCarried(name) || !isNew(name, origin)) return [];
    const message = `env.${name} was not sent to ${describe(server)} before, send its value again to allow this`;
    return [{ severity: 'ERROR', code: 'env-new-destination', message, ...position }];
  });
}

/** The destinations of variables, each with the origin of its server. */
function originsOf({ source, variables }: VariableUse): (EnvDestination & { origin: string })[] {
  const origins = new Map<Server, string>();
  return envDestinations(source).flatMap((destination) => {
    const { server } = destination;
    if (!origins.has(server) && origins.size === MAX_SERVERS) return [];
    const origin = origins.get(server) ?? originOf(server, variables);
    origins.set(server, origin);
    return [{ ...destination, origin }];
  });
}

/** The origin of a server (RFC 6454), or its text if it is not a valid URL. */
function originOf(server: Server, variables: EnvironmentVariables): string {
  const [first] = server;
  if (first === undefined) return OPENAI_ORIGIN;
  const isWhole = server.length === 1 && typeof first !== 'string';
  const lookup = lookupIn({ env: variables });
  const text = isWhole ? String(lookup(first.path) ?? '') : addressOf(server, lookup);
  return URL.parse(text)?.origin ?? text;
}

/** The address of a server. One that is too long is never called, and stays as it is written. */
function addressOf(server: Server, lookup: Lookup): string {
  try {
    return renderUrl(server, lookup).text;
  } catch (error) {
    if (!(error instanceof TextLimitError)) throw error;
    return describe(server);
  }
}

/** The server as written in the source, so that no variable's value is shown. */
function describe(server: Server): string {
  if (server.length === 0) return OPENAI_ORIGIN;
  const text = server
    .map((part) => (typeof part === 'string' ? part : `{{ ${part.path.join('.')} }}`))
    .join('');
  return looksLikeSecret(text) ? 'this server' : text.slice(0, MAX_SHOWN).toWellFormed();
}
