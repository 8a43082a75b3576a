import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { GraphQLError, type GraphQLSchema } from 'graphql';
import { GatewayError, StartupError, toGatewayError } from '../../errors.ts';
import { isJsonObject } from '../../json.ts';
import * as chatOperations from '../../operations/chat.ts';
import * as deploymentOperations from '../../operations/deployments.ts';
import type { Operation } from '../../operations/operation.ts';
import * as runOperations from '../../operations/runs.ts';
import { type ReadDocument, readDocument } from '../../schema/document.ts';

/** Texts of documents by their ids, beside Parley's own. */
export type Manifest = Readonly<Record<string, string>>;

/** The parameters of a request that say which document it asks for. */
type Asked = { query?: unknown; documentId?: unknown };

/**
 * The documents that clients may ask for by id, on every GraphQL transport: those of `operations/`, which REST runs,
 * and those of the operator's manifest. The id of each is also `sha256:` and the hash of its text in UTF-8.
 * Source: GraphQL over HTTP, appendix A, "Persisted Documents".
 */
export type Documents = {
  /**
   * Puts the text in the place of the id in a request by HTTP, as the libraries know no ids. An empty `query` is none.
   *
   * @throws GatewayError for an id that is unknown or no text, for an id and a text, and for a text where only
   *   known documents run.
   */
  resolve(request: FastifyRequest): void;
  /** Reads a document by its text; those that are known have been read at the start. */
  read(text: string): ReadDocument;
  /** Reads what was asked for; why it may not be run is among the errors. */
  readAsked(asked: Asked): ReadDocument;
};

/**
 * @param only whether no other documents run than those that are known.
 * @throws StartupError naming every document of the manifest that does not fit its id or the schema.
 */
export function createDocuments(
  schema: GraphQLSchema,
  { manifest = {}, only = false }: { manifest?: Manifest | undefined; only?: boolean } = {},
): Documents {
  const texts = new Map(OWN.map((text) => [shaOf(text), text]));
  const known = new Map<string, ReadDocument>(
    OWN.map((text) => [text, readDocument(schema, text)]),
  );
  const problems: string[] = [];
  for (const [id, text] of Object.entries(manifest)) {
    const read = readDocument(schema, text);
    for (const { message } of read.errors ?? []) problems.push(`${id}: ${message}`);
    if (id.startsWith('sha256:') && id !== shaOf(text)) problems.push(`${id}: is not its hash`);
    texts.set(id, text).set(shaOf(text), text);
    known.set(text, read);
  }
  if (problems.length > 0) {
    throw new StartupError(
      problems.map((problem) => `PARLEY_PERSISTED_DOCUMENTS ${problem}`).join('\n'),
    );
  }

  const read = (text: string) => known.get(text) ?? readDocument(schema, text);

  const textOf = ({ query, documentId }: Asked): string | undefined => {
    if (documentId === undefined || documentId === null) {
      if (only && query)
        throw refused('query', 'only documents that are known run here; send documentId');
      return typeof query === 'string' ? query : undefined;
    }
    if (typeof documentId !== 'string') throw refused('documentId', 'must be a string');
    if (query) throw refused('documentId', 'must not come with query');
    const text = texts.get(documentId);
    if (text === undefined) throw new GatewayError('not_found', 'No document has this documentId.');
    return text;
  };

  return {
    resolve({ method, body, raw }) {
      if (method === 'POST') {
        if (!isJsonObject(body)) return;
        const text = textOf(body);
        if (text === undefined || !('documentId' in body)) return;
        delete body.documentId;
        body.query = text;
      } else if (method === 'GET') {
        const url = new URL(raw.url ?? '/', 'http://localhost');
        const { searchParams } = url;
        const text = textOf({
          query: searchParams.get('query'),
          documentId: searchParams.get('documentId'),
        });
        if (text === undefined || !searchParams.has('documentId')) return;
        searchParams.delete('documentId');
        searchParams.set('query', text);
        const address = url.pathname + url.search;
        Object.assign(raw, { url: address, originalUrl: address });
      }
    },

    read,

    readAsked(asked) {
      try {
        return read(textOf(asked) ?? '');
      } catch (error) {
        const originalError = toGatewayError(error);
        return { errors: [new GraphQLError(originalError.message, { originalError })] };
      }
    },
  };
}

const OPERATIONS: Record<string, Operation<never, unknown>> = {
  ...chatOperations,
  ...deploymentOperations,
  ...runOperations,
};
const OWN = Object.values(OPERATIONS).map(({ document }) => document);

function shaOf(text: string): string {
  return `sha256:${hash('sha256', text)}`;
}

function refused(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, {
    details: [{ path, message }],
  });
}
