import type { EnvironmentVariables } from '../../deployments/environment.ts';
import type { Egress } from '../../egress/egress.ts';
import { EgressError } from '../../egress/error.ts';
import { IDEMPOTENCY_KEY } from '../../egress/idempotency-key.ts';
import type { EgressResponse } from '../../egress/response.ts';
import { BOUNDS } from '../../language/bounds.ts';
import type { Capability, HttpGroup, HttpRequest } from '../../language/definition.ts';
import { changesSomething } from '../../language/effects.ts';
import {
  type Lookup,
  lookupIn,
  pathsIn,
  type RenderedText,
  renderUrl,
} from '../../language/template.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { ATTRIBUTE } from '../../runs/record/semconv.ts';
import type { ToolEffect } from '../../runs/tool-calls/tool-call.ts';
import { MAX_LISTED, missingValues } from '../../runs/trace/trace.ts';
import type { JsonObject } from '../../text/json.ts';
import { limitAnswer, limitError } from './answer.ts';
import { headersOf, renderHeaders, withinLimit } from './headers.ts';
import { schemaOfFields } from './input.ts';
import { checkAgainst } from './schema-check.ts';
import { type Tool, ToolError } from './tool.ts';
import { withoutSecrets } from './without-secrets.ts';

/** The size limit of a request body: 256 KiB. */
const MAX_TOOL_BODY_BYTES = 262_144;

export type HttpToolDependencies = {
  egress: Pick<Egress, 'request'>;
  /** The values of `env` in templates. */
  variables: EnvironmentVariables;
  /** Redacts the values of `variables` from results and errors. */
  redactor: Redactor;
};

/**
 * Creates one tool for each capability of a group. A call makes one HTTP request. `partsOf` assigns the input to the
 * parts of the request. The result is the response body, truncated to 64 KiB with a note.
 *
 * `prepare` throws ToolError if the input or the request is invalid; `send` if there is no response, or if the status is
 * 400 or more (with 2 KiB of the body).
 */
export function createHttpTools(group: HttpGroup, dependencies: HttpToolDependencies): Tool[] {
  return group.capabilities.map((capability) =>
    createHttpTool(`${group.name}.${capability.name}`, capability, dependencies),
  );
}

function createHttpTool(
  name: string,
  capability: Capability,
  { egress, variables, redactor }: HttpToolDependencies,
): Tool {
  const { description, label, input: fields, request } = capability;
  const inputSchema = schemaOfFields(fields);
  const { method, timeout } = request;
  return {
    name,
    description,
    label,
    inputSchema,
    effect: effectOf(capability),
    approval: capability.approval,
    paths: pathsIn([request.url, ...request.headers.map(({ value }) => value)]),
    prepare(given, { signal, values, span }) {
      const { url, headers, body } = withoutSecrets(redactor, () => {
        const input = checkAgainst(inputSchema, given);
        const lookup = lookupIn({ ...values, input, env: variables });
        const texts = textsOf(request, lookup);
        span?.set(missingValues(texts.missing));
        const url = urlOf(texts.url);
        const headers = headersOf(texts.headers);
        const { query, body } = partsOf(input, request);
        addQuery(url, query);
        if (hasWrittenHost(request)) span?.set({ [ATTRIBUTE.serverAddress]: url.hostname });
        return { url, headers, body };
      });
      return {
        request: { method, url: url.href, ...(body && { body: body.text }) },
        headers,
        async send(idempotencyKey) {
          const response = await egress
            .request({
              method,
              url: url.href,
              headers: {
                ...(body && { 'content-type': body.type }),
                ...(idempotencyKey && { [IDEMPOTENCY_KEY]: idempotencyKey }),
                ...headers,
              },
              body: body?.text,
              timeout,
              signal,
            })
            .catch((error) => {
              throw error instanceof EgressError ? noAnswer(error, redactor) : error;
            });
          span?.set({ [ATTRIBUTE.httpStatus]: response.status });
          return { text: resultOf(response, redactor), httpStatus: response.status };
        },
      };
    },
  };
}

function effectOf(capability: Capability): ToolEffect {
  if (!changesSomething(capability)) return 'reads';
  return capability.repeatable ? 'repeatable' : 'changes';
}

function noAnswer(error: EgressError, redactor: Redactor): ToolError {
  const { message, code, isUnanswered } = error;
  const type = code.replaceAll('-', '_');
  return new ToolError(redactor.redact(message), { cause: error, type, isUnanswered });
}

/** Renders the request's templates. `missing` lists the values that were not found. */
function textsOf(request: HttpRequest, lookup: Lookup) {
  const url = withinLimit(
    () => renderUrl(request.url, lookup),
    ({ message }) => `The URL ${message}.`,
  );
  const headers = renderHeaders(request.headers, lookup);
  const missing = [url, ...headers].flatMap((text) => text.missing);
  return { url, headers, missing: [...new Set(missing)] };
}

function urlOf({ text, missing }: RenderedText): URL {
  const url = URL.parse(text);
  if (url) return url;
  const names = missing.slice(0, MAX_LISTED).join(', ');
  const lack = names && ` It has no value for ${names}.`;
  throw new ToolError(`The request URL is not valid.${lack}`, { type: 'invalid_url' });
}

/** Whether the definition writes the host out. A host from a variable may be a secret, so no trace names it. */
function hasWrittenHost({ url: [first, ...rest] }: HttpRequest): boolean {
  if (typeof first !== 'string') return false;
  return rest.length === 0 || /^https?:\/\/[^/?#]+[/?#]/i.test(first);
}

/**
 * Divides the input between query and body: the inputs that `query` names go into the query, all others into the body.
 * Without a body, `GET` and `DELETE` send every input that the URL does not use as query.
 */
function partsOf(input: JsonObject, { method, url, body, query }: HttpRequest) {
  const takes = (isTaken: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(input).filter(([name]) => isTaken(name)));
  const isQuery = (name: string) => query.includes(name);
  if (body !== 'none') {
    return {
      query: takes(isQuery),
      body: bodyOf(
        takes((name) => !isQuery(name)),
        body,
      ),
    };
  }
  if (method !== 'GET' && method !== 'DELETE') return { query: takes(isQuery) };
  const isPlaced = (name: string) =>
    url.some(
      (part) => typeof part !== 'string' && part.path[0] === 'input' && part.path[1] === name,
    );
  return { query: takes((name) => isQuery(name) || !isPlaced(name)) };
}

/** Encodes the input as a form; a list becomes repeated parameters. */
function formOf(input: JsonObject): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    for (const one of [value].flat()) parameters.append(name, String(one));
  }
  return parameters;
}

/** Appends parameters to the existing query. */
function addQuery(url: URL, input: JsonObject): void {
  const parameters = formOf(input);
  if (parameters.size > 0)
    url.search = url.search ? `${url.search}&${parameters}` : `${parameters}`;
  if (url.href.length > BOUNDS.urlLength)
    throw tooLarge(`The URL with its query is longer than ${BOUNDS.urlLength} characters.`);
}

function bodyOf(input: JsonObject, format: 'json' | 'form') {
  const body =
    format === 'json'
      ? { type: 'application/json', text: JSON.stringify(input) }
      : { type: 'application/x-www-form-urlencoded', text: String(formOf(input)) };
  if (Buffer.byteLength(body.text) <= MAX_TOOL_BODY_BYTES) return body;
  throw tooLarge(`The body is larger than ${MAX_TOOL_BODY_BYTES} bytes.`);
}

function tooLarge(message: string): ToolError {
  return new ToolError(message, { type: 'request_too_large' });
}

function resultOf({ status, text, truncated }: EgressResponse, redactor: Redactor): string {
  // A truncated body may end with part of a secret. The stream withholds that part.
  const safe = truncated ? redactor.stream().push(text) : redactor.redact(text);
  if (status < 400) return limitAnswer(safe, truncated);
  const message = `HTTP ${status}${safe && `: ${limitError(safe)}`}`;
  throw new ToolError(message, { type: String(status), httpStatus: status });
}
