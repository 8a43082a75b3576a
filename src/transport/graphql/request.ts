import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidInput, problemsOf } from '../../errors/errors.ts';
import { MAX_NAME_LENGTH } from '../../schema/admission/document.ts';
import { expected } from '../../text/input.ts';
import { isJsonObject, jsonText } from '../../text/json.ts';

const record = z.custom<Record<string, unknown>>(isJsonObject, 'must be an object').nullish();

const parameters = z.object(
  {
    query: z.string(expected('a string')).nullish(),
    documentId: z.unknown().optional(),
    operationName: z
      .string(expected('a string'))
      .max(MAX_NAME_LENGTH, `must not be longer than ${MAX_NAME_LENGTH} characters`)
      .nullish(),
    variables: record,
    extensions: record,
  },
  'the body must be one JSON object, not a batch',
);

/** In a URL every parameter is a string. Source: GraphQL over HTTP, section 5.2. */
const addressParameters = parameters.extend({
  variables: jsonText.pipe(record).optional(),
  extensions: jsonText.pipe(record).optional(),
});

/** The parameters of one GraphQL request. An empty `query` counts as absent. */
export type GraphQLRequest = z.infer<typeof parameters>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The GraphQL parameters, once `readRequest` has read them. */
    graphqlRequest: GraphQLRequest | null;
  }
}

/** Prepares a server for `readRequest`. */
export function decorateRequests(app: FastifyInstance): void {
  app.decorateRequest('graphqlRequest', null);
}

/**
 * Reads the parameters of an HTTP request, from the URL with GET and else from the body. The request keeps the result,
 * so that the document that was checked is the document that runs.
 *
 * @throws GatewayError `invalid_request` if a parameter is repeated in the URL or has the wrong type, or if the body is
 *   not one JSON object.
 */
export function readRequest(request: FastifyRequest): GraphQLRequest {
  if (request.graphqlRequest) return request.graphqlRequest;
  const address = addressOf(request);
  const parsed =
    request.method === 'GET'
      ? read(addressParameters, Object.fromEntries(address))
      : read(parameters, request.body);
  request.graphqlRequest = parsed;
  return parsed;
}

/** The parameters of the URL. @throws GatewayError `invalid_request` if one is repeated. */
export function addressOf({ raw: { url = '' } }: FastifyRequest): Map<string, string> {
  const start = url.indexOf('?');
  const given = [...new URLSearchParams(start < 0 ? '' : url.slice(start + 1))];
  const address = new Map(given);
  if (address.size === given.length) return address;
  throw invalidInput([{ path: '', message: 'A parameter must not be repeated in the URL.' }]);
}

function read(shape: z.ZodType<GraphQLRequest>, value: unknown): GraphQLRequest {
  const { data, error } = shape.safeParse(value);
  if (error) throw invalidInput(problemsOf(error));
  return { ...data, operationName: data.operationName || undefined };
}
