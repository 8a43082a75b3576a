import { z } from 'zod';
import { createDocument, type ZodOpenApiObject, type ZodOpenApiOperationObject } from 'zod-openapi';
import { eventFrame, replyFrame } from '../frames.ts';
import { errorReply } from '../replies.ts';
import type { Route } from '../route.ts';
import { routes } from '../routes.ts';
import { errorResponse, errorResponses } from './errors.ts';
import { exampleOf } from './example.ts';
import { COMMON_HEADERS, HEADERS, headersOf } from './headers.ts';
import { streamContent } from './streams.ts';

export type OpenApiDocument = ReturnType<typeof createDocument>;

const TAGS: Record<Route['tag'] | 'Description', string> = {
  Chat: 'Talk to a bot: in a conversation, or with a prompt by itself.',
  Runs: 'Every answer of a bot is a run, which can be followed and stopped.',
  Deployments: 'Give a bot a definition, see what ran, and go back to it.',
  Description: 'What you read here, for programs.',
};

/**
 * The REST interface as OpenAPI 3.1 describes it, made of the table of routes: what checks the requests is what
 * describes them.
 */
export function describeApi(): OpenApiDocument {
  const description: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'Parley',
      version: '1',
      summary: 'A gateway that hosts conversational agents.',
      description:
        'Send an API key with every request, as `Authorization: Bearer <API_KEY>`; keys belong to servers, never to ' +
        'pages of your own. Bodies are JSON. Requests are counted per account, and every answer says in its headers what is ' +
        'left. Fields that are not known here are ignored in requests, and may come to answers.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/v1', description: 'This server.' }],
    security: [{ apiKey: [] }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: {
      ...pathsOf(routes),
      '/openapi.json': { get: OF_THE_DOCUMENT },
    },
    components: {
      schemas: { Error: errorReply, ReplyFrame: replyFrame, EventFrame: eventFrame },
      headers: HEADERS,
      parameters: {
        'X-Request-Id': {
          name: 'X-Request-Id',
          in: 'header',
          description: 'Your own name for this request, which its answer and the log repeat.',
          schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
        },
      },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description:
            'An API key, `parley_sk_…`. Where roles are named, the key must have that scope.',
        },
      },
    },
  };
  return createDocument(description, {
    // A check of our own tells nothing of the type; whoever uses it says it beside, in `override`.
    allowEmptySchema: { custom: true },
    override: ({ jsonSchema, io }) => {
      // More fields may come to answers.
      if (io === 'output' && jsonSchema.additionalProperties === false) {
        delete jsonSchema.additionalProperties;
      }
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
}

/** The document's own route: its reader has no key yet. */
const OF_THE_DOCUMENT: ZodOpenApiOperationObject = {
  operationId: 'describe',
  tags: ['Description'],
  summary: 'This description',
  description: 'Needs no key. Without a valid one it counts against the limit of the address.',
  security: [],
  responses: {
    200: {
      description: 'The interface, as OpenAPI 3.1 has it.',
      headers: COMMON_HEADERS,
      content: { 'application/json': { schema: { type: 'object' } } },
    },
    429: errorResponse(429, ['rate_limit_exceeded']),
    500: errorResponse(500, ['internal_error']),
  },
};

function pathsOf(table: Route[]) {
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
    // Without a scope it is as all are: any key that may see the bot. An empty list would say: none at all.
    ...(scope && { security: [scope].flat().map((one) => ({ apiKey: [one.toLowerCase()] })) }),
    requestParams: {
      path: params,
      ...(query && { query }),
      ...(headers && { header: headersAsWritten(headers) }),
    },
    parameters: [{ $ref: '#/components/parameters/X-Request-Id' }],
    ...(body && {
      requestBody: {
        required: route.emptyBody !== true,
        content: { 'application/json': { schema: body, example: exampleOf(body) } },
      },
    }),
    responses: {
      200: {
        description: answerOf(route),
        headers: headersOf(route.answerHeaders),
        content: {
          ...(schema && { 'application/json': { schema, example: exampleOf(schema) } }),
          ...(route.streams && { 'text/event-stream': streamContent(route.streams) }),
        },
      },
      ...(acceptedSchema && {
        202: {
          description: 'The work is taken on.',
          headers: headersOf(route.answerHeaders),
          content: {
            'application/json': { schema: acceptedSchema, example: exampleOf(acceptedSchema) },
          },
        },
      }),
      ...errorResponses(route),
    },
  };
}

/** The names as people write them. `Accept` is left out: it goes by the content of the answers. */
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

function answerOf({ schema, streams }: Route): string {
  if (schema && streams) return 'The whole answer, or its stream.';
  return streams ? 'The stream.' : 'The answer.';
}
