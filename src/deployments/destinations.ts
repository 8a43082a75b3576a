import { type EnvDestination, envDestinations, type Server } from '../language/destinations.ts';
import { looksLikeSecret } from '../language/secrets.ts';
import { lookupIn, renderUrl } from '../language/template.ts';
import { OPENAI_BASE_URL } from '../model/openai.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** A source and the variables that it runs with. */
export type VariableUse = { source: string; variables: EnvironmentVariables };

const OPENAI_ORIGIN = new URL(OPENAI_BASE_URL).origin;
/** Of a server's name in a message, in characters. */
const MAX_SHOWN = 200;

/**
 * The variables that a deploy takes over from the deployment before it and would send to a server that this one did
 * not send them to: an error for each pair, where the source first has it. A server is a scheme, a host and a port;
 * where a variable says which one it is, its value decides.
 *
 * @param sent the names of the variables whose values arrive with the deploy: they may go anywhere.
 */
export function newDestinations(
  { source, variables }: VariableUse,
  before: VariableUse,
  sent: ReadonlySet<string>,
): DeploymentDiagnostic[] {
  const isCarried = (name: string) => !sent.has(name) && Object.hasOwn(variables, name);
  if (!Object.keys(variables).some(isCarried)) return [];
  const known = new Set(placesOf(before).map(({ place }) => place));
  return placesOf({ source, variables }).flatMap(({ place, name, server, line, column }) => {
    if (!isCarried(name) || known.has(place)) return [];
    known.add(place);
    const message = `env.${name} was not sent to ${describe(server)} before, send its value again to allow this`;
    return [{ severity: 'ERROR', code: 'env-new-destination', message, line, column }];
  });
}

/** Where variables go, with a key that is the same for the same variable and server. */
function placesOf({ source, variables }: VariableUse): (EnvDestination & { place: string })[] {
  const origins = new Map<Server, string>();
  return envDestinations(source).map((destination) => {
    const { name, server } = destination;
    const origin = origins.get(server) ?? originOf(server, variables);
    origins.set(server, origin);
    return { ...destination, place: `${name} ${origin}` };
  });
}

/** The origin of a server (RFC 6454); of what is no address, its text. */
function originOf(server: Server, variables: EnvironmentVariables): string {
  const [first] = server;
  if (first === undefined) return OPENAI_ORIGIN;
  const isWhole = server.length === 1 && typeof first !== 'string';
  const lookup = lookupIn({ env: variables });
  const text = isWhole ? String(lookup(first.path) ?? '') : renderUrl(server, lookup).text;
  return URL.parse(text)?.origin ?? text;
}

/** A server as the source has it: no value of a variable is shown. */
function describe(server: Server): string {
  if (server.length === 0) return OPENAI_ORIGIN;
  const text = server
    .map((part) => (typeof part === 'string' ? part : `{{ ${part.path.join('.')} }}`))
    .join('');
  return looksLikeSecret(text) ? 'this server' : text.slice(0, MAX_SHOWN).toWellFormed();
}
