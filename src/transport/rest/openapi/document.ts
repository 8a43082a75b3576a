import { z } from 'zod';
import { createDocument, type ZodOpenApiObject, type ZodOpenApiOperationObject } from 'zod-openapi';
import { VERSION } from '../../../text/version.ts';
import { refusedDeployReply } from '../deployment-wire.ts';
import { errorReply, openaiErrorReply } from '../replies.ts';
import type { Route } from '../route.ts';
import { errorResponse, errorResponses } from './errors.ts';
import { exampleOf } from './example.ts';
import { COMMON_HEADERS, HEADERS, headersOf } from './headers.ts';
import { streamContent } from './streams.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

const TAGS: Record<Route['tag'] | 'Description', string> = {
  Chat: 'Send messages to a bot, or run single prompts.',
  Runs: 'Each reply of a bot is a run. Retrieve, follow and cancel runs.',
  Approvals: 'Tool calls that wait for the approval of a person. List and decide them.',
  Evaluations: 'Run the tests of a definition before it is deployed.',
  Deployments: 'Deploy definitions, list deployments and roll back.',
  OpenAI:
    'Bots as models of OpenAI’s API, for clients that exist already. Errors have the form of that API. Unknown members of a body and unknown query parameters are ignored.',
  Description: 'The machine-readable description of this API.',
};

/**
 * Generates the OpenAPI 3.1 document of the REST interface from the routes. The same schemas validate the requests.
 *
 * @param publicUrl the URL of this server, if the operator configured it. The server's address is relative otherwise.
 */
export function describeApi(routes: readonly Route[], publicUrl?: string): OpenApiDocument {
  const description: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version: VERSION,
      summary: 'A gateway that hosts conversational agents.',
      description:
        'Send an API key with every request, as `Authorization: Bearer <API_KEY>`. Keep keys on your servers, never in ' +
        'web pages. Bodies are JSON of at most 1 MiB. The URL and the headers hold at most 16 KiB together. Rate limits apply per account; the headers of each response report the remaining requests. ' +
        'Unknown query parameters are rejected. Bodies may have unknown fields, but none that nearly names a known ' +
        'field; deploys and rollbacks reject all of them. Responses may gain fields.',
      contact: { name: 'The operator of this server', ...(publicUrl && { url: publicUrl }) },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [serverAt(publicUrl)],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: {
      ...pathsOf(routes),
      '/openapi.json': { get: OF_THE_DOCUMENT },
    },
    components: {
      schemas: {
        Error: errorReply,
        OpenAIError: openaiErrorReply,
        RefusedDeploy: refusedDeployReply,
        ...Object.fromEntries(routes.flatMap(({ frame }) => (frame ? [[idOf(frame), frame]] : []))),
      },
      headers: HEADERS,
      parameters: {
        'X-Request-Id': {
          name: 'X-Request-Id',
          in: 'header',
          description:
            'Your own ID for this request, 1 to 128 visible ASCII characters; any other is replaced. The response and ' +
            'the server log repeat it.',
          schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
        },
      },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `parley_sk_…`. The key needs a scope that the operation lists as a role.',
        },
      },
    },
  };
  return createDocument(description, {
    // A custom check has no JSON Schema type; its user declares the type in `override`.
    allowEmptySchema: { custom: true },
    override: ({ jsonSchema, io }) => {
      // Responses may gain fields.
      if (io === 'output' && jsonSchema.additionalProperties === false) {
        delete jsonSchema.additionalProperties;
      }
      // Client generators make request fields with a default required. Their descriptions name the defaults.
      if (io === 'input') delete jsonSchema.default;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
}

function serverAt(publicUrl: string | undefined) {
  if (publicUrl !== undefined) return { url: `${publicUrl}/v1`, description: 'This server.' };
  return {
    url: '/v1',
    description:
      'The server of this document. Generated clients need its full address, such as `http://localhost:4000/v1`: ' +
      'set it in the client, or set `PUBLIC_URL` on the server.',
  };
}

/** The route of this document, which needs no key. */
const OF_THE_DOCUMENT: ZodOpenApiOperationObject = {
  operationId: 'readApiDescription',
  tags: ['Description'],
  summary: 'Retrieve this description',
  description:
    'Requires no API key. Without a valid key, the request counts against the limit of the client address.',
  security: [],
  responses: {
    200: {
      description: 'The OpenAPI 3.1 document.',
      headers: COMMON_HEADERS,
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    429: errorResponse(429, ['rate_limit_exceeded']),
    500: errorResponse(500, ['internal_error']),
  },
};

function pathsOf(table: readonly Route[]) {
  const paths = Map.groupBy(table, ({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'));
  return Object.fromEntries(
    [...paths].map(([path, methods]) => [
      path,
      Object.fromEntries(methods.map((row) => [row.method.toLowerCase(), operationOf(row)])),
    ]),
  );
}

function operationOf(route: Route): ZodOpenApiOperationObject {
  const { schema, acceptedSchema, scope } = route;
  const { params, query, headers, body } = route.input;
  return {
    operationId: route.id,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description && { description: route.description }),
    // Without a scope the document's default applies. An empty list would mean that no key is required.
    ...(scope && { security: [scope].flat().map((one) => ({ apiKey: [one.toLowerCase()] })) }),
    requestParams: {
      path: params,
      query,
      ...(headers && { header: headersAsWritten(headers) }),
    },
    parameters: [{ $ref: '#/components/parameters/X-Request-Id' }],
    ...(body && {
      // Some generated clients omit the content type if an operation has several. Texts are described only in the description.
      requestBody: {
        required: route.emptyBody !== true,
        content: {
          'application/json': {
            schema: body instanceof z.ZodDefault ? body.unwrap() : body,
            example: exampleOf(body),
          },
        },
      },
    }),
    responses: {
      200: {
        description: answerOf(route),
        headers: headersOf(route.answerHeaders),
        content: {
          // Client generators type a response with several content types as a union, or by the wrong one. Routes that
          // respond with JSON by default mention their streams only in the description.
          ...(schema
            ? { 'application/json': { schema, example: exampleOf(schema) } }
            : (route.streams === 'reply' || route.streams === 'events') && {
                'text/event-stream': streamContent(route.streams),
              }),
        },
      },
      ...(acceptedSchema && {
        202: {
          description: 'The run is queued.',
          headers: headersOf(route.answerHeaders),
          content: {
            'application/json': { schema: acceptedSchema, example: exampleOf(acceptedSchema) },
          },
        },
      }),
      ...(route.streams === 'events' && {
        204: {
          description: 'The run is finished, and no event follows the `Last-Event-ID`.',
          headers: COMMON_HEADERS,
        },
      }),
      ...errorResponses(route),
    },
  };
}

/** Header names in their usual case. OpenAPI expresses `Accept` as the content types of responses, so it is omitted. */
function headersAsWritten(headers: z.ZodObject): z.ZodObject {
  return z.object(
    Object.fromEntries(
      Object.entries(headers.shape)
        .filter(([name]) => name !== 'accept')
        .map(([name, schema]) => [name.includes('-') ? capitalised(name) : name, schema]),
    ),
  );
}

function capitalised(name: string): string {
  const words = name.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return words.join('-').replace(/-Id$/, '-ID');
}

/** The name of a schema among the components. */
function idOf(schema: z.ZodType): string {
  return String(schema.meta()?.id);
}

function answerOf({ schema, streams, frame }: Route): string {
  if (schema && frame && streams === 'response')
    return `The complete response. If it is streamed, the response is Server-Sent Events: lines \`event: <type>\` and \`data: <JSON>\` with a \`${idOf(frame)}\` for each event. After 15 seconds without an event, a comment line follows.`;
  if (schema && frame && streams === 'completion')
    return `The complete response. If it is streamed, the response is Server-Sent Events: a line \`data: <JSON>\` with a \`${idOf(frame)}\` for each chunk, and \`data: [DONE]\` at the end. After 15 seconds without a chunk, a comment line follows. An error after the first chunk is \`data: {"error": …}\` and the end.`;
  if (schema && streams)
    return 'The complete response. If the reply is streamed, the response is the same as of `POST /bots/{id}/chat/stream`.';
  return streams ? 'The stream.' : 'The response.';
}
