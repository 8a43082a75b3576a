import { type EnvDestination, envDestinations, type Server } from '../language/destinations.ts';
import { looksLikeSecret } from '../language/secrets.ts';
import { lookupIn, renderUrl } from '../language/template.ts';
import { OPENAI_BASE_URL } from '../model/openai.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** A source and its variables. */
export type VariableUse = { source: string; variables: EnvironmentVariables };

const OPENAI_ORIGIN = new URL(OPENAI_BASE_URL).origin;
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
  const known = new Set(placesOf(before).map(({ place }) => place));
  return placesOf({ source, variables }).flatMap(({ place, name, server, ...position }) => {
    if (!isCarried(name) || known.has(place)) return [];
    known.add(place);
    const message = `env.${name} was not sent to ${describe(server)} before, send its value again to allow this`;
    return [{ severity: 'ERROR', code: 'env-new-destination', message, ...position }];
  });
}

/** The destinations of variables, each with a key of variable and server. */
function placesOf({ source, variables }: VariableUse): (EnvDestination & { place: string })[] {
  const origins = new Map<Server, string>();
  return envDestinations(source).map((destination) => {
    const { name, server } = destination;
    const origin = origins.get(server) ?? originOf(server, variables);
    origins.set(server, origin);
    return { ...destination, place: `${name} ${origin}` };
  });
}

/** The origin of a server (RFC 6454), or its text if it is not a valid URL. */
function originOf(server: Server, variables: EnvironmentVariables): string {
  const [first] = server;
  if (first === undefined) return OPENAI_ORIGIN;
  const isWhole = server.length === 1 && typeof first !== 'string';
  const lookup = lookupIn({ env: variables });
  const text = isWhole ? String(lookup(first.path) ?? '') : renderUrl(server, lookup).text;
  return URL.parse(text)?.origin ?? text;
}

/** The server as written in the source, so that no variable's value is shown. */
function describe(server: Server): string {
  if (server.length === 0) return OPENAI_ORIGIN;
  const text = server
    .map((part) => (typeof part === 'string' ? part : `{{ ${part.path.join('.')} }}`))
    .join('');
  return looksLikeSecret(text) ? 'this server' : text.slice(0, MAX_SHOWN).toWellFormed();
}
