import {
  type Destination,
  type EnvDestination,
  envDestinations,
} from '../language/destinations.ts';
import { looksLikeSecret } from '../language/secrets.ts';
import { type Lookup, lookupIn, renderUrl, TextLimitError } from '../language/template.ts';
import { OPENAI_BASE_URL } from '../model/openai.ts';
import type { DeploymentDiagnostic } from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** A source and its variables. */
export type VariableUse = { source: string; variables: EnvironmentVariables };

/** Destinations that are compared. A valid source has fewer; the comparison of an invalid source ignores the rest. */
const MAX_DESTINATIONS = 256;
/** Characters shown of a destination in a message. */
const MAX_SHOWN = 200;

/**
 * Reports an error for each carried-over variable that a deploy would send to a destination to which the previous
 * deployment did not send it. The error is at the first such position in the source. Destinations are compared by scheme,
 * host, port, and the path up to its first template, after variables in their addresses are resolved.
 *
 * @param sent names of the variables whose values are part of the request. They may go to any destination.
 */
export function newDestinations(
  { source, variables }: VariableUse,
  before: VariableUse,
  sent: ReadonlySet<string>,
): DeploymentDiagnostic[] {
  const isCarried = (name: string) => !sent.has(name) && Object.hasOwn(variables, name);
  if (!Object.keys(variables).some(isCarried)) return [];
  /** The variables that each address got. A key of both would copy an address for each variable. */
  const known = new Map<string, Set<string>>();
  const isNew = (name: string, address: string) => {
    const names = known.get(address) ?? new Set();
    if (names.has(name)) return false;
    known.set(address, names.add(name));
    return true;
  };
  for (const { name, address } of addressesOf(before)) isNew(name, address);
  return addressesOf({ source, variables }).flatMap(
    ({ address, name, destination, ...position }) => {
      if (!isCarried(name) || !isNew(name, address)) return [];
      const message = `env.${name} was not sent to ${describe(destination)} before, send its value again to allow this`;
      return [{ severity: 'ERROR', code: 'env-new-destination', message, ...position }];
    },
  );
}

/** The destinations of variables, each with its address. */
function addressesOf({ source, variables }: VariableUse): (EnvDestination & { address: string })[] {
  const addresses = new Map<Destination, string>();
  return envDestinations(source).flatMap((use) => {
    const { destination } = use;
    if (!addresses.has(destination) && addresses.size === MAX_DESTINATIONS) return [];
    const address = addresses.get(destination) ?? addressOf(destination, variables);
    addresses.set(destination, address);
    return [{ ...use, address }];
  });
}

/** The origin (RFC 6454) and the path of a destination, or its text if it is not a valid URL. */
function addressOf(destination: Destination, variables: EnvironmentVariables): string {
  const text = textOf(destination, lookupIn({ env: variables }));
  const url = URL.parse(text);
  return url ? url.origin + url.pathname : text;
}

/** The text of a destination. One that is too long is never called, and stays as it is written. */
function textOf(destination: Destination, lookup: Lookup): string {
  const [first] = destination;
  if (first === undefined) return OPENAI_BASE_URL;
  if (destination.length === 1 && typeof first !== 'string')
    return String(lookup(first.path) ?? '');
  try {
    return renderUrl(destination, lookup).text;
  } catch (error) {
    if (!(error instanceof TextLimitError)) throw error;
    return describe(destination);
  }
}

/** The destination as written in the source, so that no variable's value is shown. */
function describe(destination: Destination): string {
  if (destination.length === 0) return OPENAI_BASE_URL;
  const text = destination
    .map((part) => (typeof part === 'string' ? part : `{{ ${part.path.join('.')} }}`))
    .join('');
  return looksLikeSecret(text) ? 'this server' : text.slice(0, MAX_SHOWN).toWellFormed();
}
