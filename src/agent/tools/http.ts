import type { EnvironmentVariables } from '../../deployments/environment.ts';
import type { Redactor } from '../../deployments/redact.ts';
import type { Capability, HttpGroup, HttpRequest } from '../../language/definition.ts';
import { type Lookup, lookupIn, renderTemplate, renderUrl } from '../../language/template.ts';
import type { Egress, EgressResponse } from '../egress.ts';
import { EgressError } from '../egress-error.ts';
import { checkInput, jsonSchemaOf } from './check.ts';
import { type CapabilityInput, inputSchemaOf } from './input.ts';
import { type Tool, ToolError } from './tool.ts';

/** What HTTP tools work with. */
export type HttpToolDependencies = {
  egress: Pick<Egress, 'request'>;
  /** What `env` places. */
  variables: EnvironmentVariables;
  /** Takes the values of `variables` out of all that goes back. */
  redactor: Redactor;
};

const MAX_RESULT_BYTES = 64 * 1024;
const MAX_ERROR_BYTES = 2 * 1024;
const CUT_NOTE = '\n[The answer was longer and is cut here.]';

/** What a header's value may not hold: RFC 9110, section 5.5. */
const NOT_IN_HEADERS = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * The capabilities of a group, each a tool that makes one HTTP request. `post`, `put` and `patch` send the input
 * as JSON; `get` and `delete` send what the URL does not place in the query, lists as repeated parameters.
 * The body of the answer goes back as it is, cut at 64 KiB with a note.
 *
 * Calls throw ToolError for input that is not valid, for a request that cannot be made, where there is no answer,
 * and for a status of 400 or more, with 2 KiB of the body; or the reason of the signal, once it is aborted.
 */
export function createHttpTools(group: HttpGroup, dependencies: HttpToolDependencies): Tool[] {
  return group.capabilities.map((capability) =>
    createHttpTool(`${group.name}.${capability.name}`, capability, dependencies),
  );
}

function createHttpTool(
  name: string,
  { description, input: fields, request }: Capability,
  { egress, variables, redactor }: HttpToolDependencies,
): Tool {
  const schema = inputSchemaOf(fields);
  const placed = request.url.flatMap((part) =>
    typeof part !== 'string' && part.path[0] === 'input' ? part.path.slice(1, 2) : [],
  );
  return {
    name,
    description,
    inputSchema: jsonSchemaOf(schema),
    async call(given, { signal, values }) {
      try {
        const input = checkInput(schema, given);
        const lookup = lookupIn({ ...values, input, env: variables });
        const url = urlOf(request, lookup);
        const headers = headersOf(request, lookup);
        const { method, timeout } = request;
        const hasBody = method === 'POST' || method === 'PUT' || method === 'PATCH';
        if (!hasBody) addQuery(url, input, placed);
        const response = await egress.request({
          method,
          url: url.href,
          headers: hasBody ? { 'content-type': 'application/json', ...headers } : headers,
          body: hasBody ? JSON.stringify(input) : undefined,
          timeout,
          signal,
        });
        return resultOf(response, redactor);
      } catch (error) {
        if (error instanceof ToolError || error instanceof EgressError) {
          throw new ToolError(redactor.redact(error.message), { cause: error });
        }
        throw error;
      }
    },
  };
}

function urlOf({ url: template }: HttpRequest, lookup: Lookup): URL {
  const { text, missing } = renderUrl(template, lookup);
  const url = URL.parse(text);
  if (url) return url;
  const lack = missing.length > 0 ? ` It has no value for ${missing.join(', ')}.` : '';
  throw new ToolError(`The request has no valid address.${lack}`);
}

/** The headers by their names in small letters. */
function headersOf({ headers }: HttpRequest, lookup: Lookup): Record<string, string> {
  return Object.fromEntries(
    headers.map(({ name, value: template }) => {
      const { text } = renderTemplate(template, lookup);
      if (!NOT_IN_HEADERS.test(text)) return [name.toLowerCase(), text];
      throw new ToolError(`The value of the header "${name}" must be one line of Latin letters.`);
    }),
  );
}

/** Adds parameters, and leaves the query that is there as it is. */
function addQuery(url: URL, input: CapabilityInput, placed: string[]): void {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || placed.includes(name)) continue;
    for (const one of [value].flat()) parameters.append(name, String(one));
  }
  if (parameters.size > 0)
    url.search = url.search ? `${url.search}&${parameters}` : `${parameters}`;
}

function resultOf({ status, text, truncated }: EgressResponse, redactor: Redactor): string {
  // The beginning of a value may stand at the end of a body that was cut: a stream holds it back.
  const safe = truncated ? redactor.stream().push(text) : redactor.redact(text);
  if (status >= 400) {
    throw new ToolError(`HTTP ${status}${safe && `: ${cut(safe, MAX_ERROR_BYTES)}`}`);
  }
  const isWhole = !truncated && Buffer.byteLength(safe) <= MAX_RESULT_BYTES;
  return isWhole ? safe : cut(safe, MAX_RESULT_BYTES - CUT_NOTE.length) + CUT_NOTE;
}

/** As many characters from the beginning as fit into so many bytes of UTF-8. */
function cut(text: string, bytes: number): string {
  return text.slice(0, new TextEncoder().encodeInto(text, new Uint8Array(bytes)).read);
}
