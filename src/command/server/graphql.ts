import { createConnection } from '../../client/connection.ts';
import type { ServerSentEvent } from '../../client/event-stream.ts';
import { readResults } from '../../client/graphql-events.ts';
import { ParleyError } from '../../client/index.ts';
import { Refusal } from '../errors.ts';
import { send } from './requests.ts';
import { explainVersion } from './server-version.ts';

/** An operation with the types of its data and variables. The server persists its text under its id. */
export type Persisted<Data, Variables> = {
  id: string;
  text: string;
  /** Never set: exists only for type inference. */
  types?: (variables: Variables) => Data;
};

/** The GraphQL API, for what REST has no route for. */
export type GraphQL = {
  /** @throws ParleyError with the REST code of the first error. */
  run<Data, Variables>(
    operation: Persisted<Data, Variables>,
    variables: Variables,
    signal: AbortSignal,
  ): Promise<Data>;
  /**
   * Begins a subscription. Its results end with the connection.
   *
   * @throws ConnectionError if the connection is lost, or another ParleyError if the server refuses.
   */
  subscribe<Data, Variables>(
    operation: Persisted<Data, Variables>,
    variables: Variables,
    signal: AbortSignal,
  ): Promise<AsyncGenerator<Data, void> | undefined>;
};

type Options = { url: string; apiKey: string; version: string; fetch: typeof fetch };

type GraphQLAnswer = {
  data?: unknown;
  errors?: { message: string; extensions?: { code?: string; details?: unknown } }[];
};

export function createGraphQL({ url, apiKey, version, fetch: fetcher }: Options): GraphQL {
  const headers = { authorization: `Bearer ${apiKey}` };
  const connection = createConnection({ apiKey, baseUrl: url, fetch: fetcher });

  async function post(body: object, signal: AbortSignal) {
    const { status, body: answer } = await send(
      fetcher,
      `${url}/graphql`,
      {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify(body),
      },
      signal,
    );
    return { status, answer: isAnswer(answer) ? answer : undefined };
  }

  return {
    async run<Data, Variables>(
      { id, text }: Persisted<Data, Variables>,
      variables: Variables,
      signal: AbortSignal,
    ) {
      let { status, answer } = await post({ documentId: id, variables }, signal);
      // A server of another version does not know the id, but may know the fields.
      if (codeOf(answer) === 'NOT_FOUND' && /documentId/.test(answer?.errors?.[0]?.message ?? ''))
        ({ status, answer } = await post({ query: text, variables }, signal));
      if (answer === undefined || isUnknownToServer(answer))
        throw new Refusal(await explainVersion({ url, version, fetch: fetcher, signal }));
      const [problem] = answer.errors ?? [];
      if (problem) throw errorOf(problem, status);
      return dataOf<Data>(answer);
    },

    async subscribe<Data, Variables>(
      { id }: Persisted<Data, Variables>,
      variables: Variables,
      signal: AbortSignal,
    ) {
      const request = {
        path: '/graphql/stream',
        headers: { accept: 'text/event-stream' },
        body: { documentId: id, variables },
      };
      const opened = await connection.open(request, connection.settingsOf(undefined), signal);
      return opened && results<Data>(opened.events);
    },
  };
}

async function* results<Data>(events: AsyncIterable<ServerSentEvent>): AsyncGenerator<Data, void> {
  for await (const answer of readResults(events)) {
    const [problem] = answer.errors ?? [];
    if (problem) throw errorOf(problem, 200);
    yield dataOf<Data>(answer);
  }
}

/** The server validates each answer against the schema that the types of the operations are generated from. */
function dataOf<Data>({ data }: GraphQLAnswer): Data {
  return data as Data;
}

function isAnswer(value: unknown): value is GraphQLAnswer {
  return typeof value === 'object' && value !== null && ('data' in value || 'errors' in value);
}

const codeOf = (answer: GraphQLAnswer | undefined) => answer?.errors?.[0]?.extensions?.code;

/** Whether the server's schema lacks a field or an argument of the document. */
function isUnknownToServer({ errors = [] }: GraphQLAnswer): boolean {
  return errors.some(({ message }) =>
    /^(Cannot query field|Unknown (argument|type)|Field ".*" is not defined)/.test(message),
  );
}

function errorOf(
  { message, extensions = {} }: NonNullable<GraphQLAnswer['errors']>[number],
  status: number,
): ParleyError {
  const code = (extensions.code ?? 'INTERNAL_ERROR').toLowerCase();
  return new ParleyError({ message: withDetails(message, extensions.details), code, status });
}

/** The details of a validation error name the fields, which the message alone may not. */
function withDetails(message: string, details: unknown): string {
  if (!Array.isArray(details) || details.length === 0) return message;
  const parts = details.flatMap((detail: { path?: unknown; message?: unknown }) =>
    typeof detail?.message === 'string'
      ? [`${String(detail.path ?? '').replace(/^input\./, '')} ${detail.message}`.trim()]
      : [],
  );
  return parts.length > 0 ? `${parts.join('; ')}.` : message;
}
