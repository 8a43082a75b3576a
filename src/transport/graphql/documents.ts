import { hash } from 'node:crypto';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { GatewayError, invalidInput, StartupError } from '../../errors/errors.ts';
import { PERSISTED } from '../../generated/operations/persisted.ts';
import { type ReadDocument, readDocument } from '../../schema/admission/document.ts';
import type { GraphQLRequest } from './request.ts';

/** The operator's documents by id, in addition to Parley's own. */
export type Manifest = Readonly<Record<string, string>>;

/**
 * The documents of all GraphQL transports. Clients may run the documents of `operations/` and of the operator's manifest
 * by id. `sha256:` and the hash of a document's UTF-8 text is also an id of it.
 * Source: GraphQL over HTTP, appendix A, "Persisted Documents".
 */
export type Documents = {
  /**
   * Resolves the document of a request. An empty `query` counts as absent.
   *
   * @throws GatewayError if the id is unknown or not a string, if the request has both an id and a text or neither, or if
   *   it has a text although only persisted documents may run.
   */
  textOf(request: Pick<GraphQLRequest, 'query' | 'documentId'>): string;
  /** Whether it is one of Parley's own documents, which the console, the command and the REST routes send. */
  isOwn(text: string): boolean;
  /** A document that is persisted or cached. */
  find(text: string): ReadDocument | undefined;
  /**
   * Parses and validates a document.
   *
   * @param keep whether to cache it. Only valid documents are cached, 16 MiB in total.
   * @throws GatewayError if only persisted documents may run.
   */
  read(text: string, options: { keep: boolean }): ReadDocument;
  /** Estimated bytes of all cached documents. */
  cachedBytes(): number;
};

/** Estimated bytes of all cached documents. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** Memory of a token with its syntax nodes and locations. Measured on Node.js 24: 90 to 507 bytes. */
const BYTES_PER_TOKEN = 512;

/**
 * @param only whether only persisted documents may run.
 * @throws StartupError that names every document of the manifest that does not match its id or the schema.
 */
export function createDocuments(
  schema: GraphQLSchema,
  { manifest = {}, only = false }: { manifest?: Manifest | undefined; only?: boolean } = {},
): Documents {
  const texts = new Map(Object.entries(PERSISTED));
  const known = new Map<string, ReadDocument>();
  /** Reads one of Parley's own documents at its first use: a process needs few of them, and reading all delays its start. */
  const readOwn = (text: string) => {
    if (!OWN.has(text)) return undefined;
    const read = readDocument(schema, text);
    known.set(text, read);
    return read;
  };
  const problems: string[] = [];
  for (const [id, text] of Object.entries(manifest)) {
    const read = readDocument(schema, text);
    for (const { message } of read.errors ?? []) problems.push(`${id}: ${message}`);
    if (id.startsWith('sha256:') && id !== shaOf(text))
      problems.push(`${id}: is not the hash of its document`);
    texts.set(id, text).set(shaOf(text), text);
    known.set(text, read);
  }
  if (problems.length > 0) {
    throw new StartupError(
      problems.map((problem) => `PARLEY_PERSISTED_DOCUMENTS ${problem}`).join('\n'),
    );
  }

  const cache = new LRUCache<string, ReadDocument & { document: DocumentNode }>({
    maxSize: MAX_CACHED_BYTES,
    maxEntrySize: MAX_DOCUMENT_BYTES,
    sizeCalculation: ({ document }, text) => 2 * text.length + tokensOf(document) * BYTES_PER_TOKEN,
  });

  return {
    textOf({ query, documentId }) {
      if (documentId === undefined || documentId === null) {
        if (!query) throw refused('query', 'is required');
        if (only) throw noText();
        return query;
      }
      if (typeof documentId !== 'string') throw refused('documentId', 'must be a string');
      if (query) throw refused('documentId', 'must not be combined with query');
      const text = texts.get(documentId);
      if (text !== undefined) return text;
      throw new GatewayError(
        'not_found',
        "There is no document with this documentId. A document's id changes with its text, and a new version of Parley can " +
          `change its own documents. Send the id of the current text${only ? '' : ', or the text as query'}.`,
      );
    },

    isOwn: (text) => OWN.has(text),

    find: (text) => known.get(text) ?? readOwn(text) ?? cache.get(text),

    read(text, { keep }) {
      if (only) throw noText();
      const read = readDocument(schema, text);
      if (keep && read.document) cache.set(text, read);
      return read;
    },

    cachedBytes: () => cache.calculatedSize,
  };
}

const OWN = new Set(Object.values(PERSISTED));

function shaOf(text: string): string {
  return `sha256:${hash('sha256', text)}`;
}

/** Counts the tokens that a document keeps in memory, including comments. */
function tokensOf({ loc }: DocumentNode): number {
  let count = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) count += 1;
  return count;
}

function noText(): GatewayError {
  return refused(
    'query',
    'must be omitted: this server runs only persisted documents. Send documentId.',
  );
}

function refused(path: string, message: string): GatewayError {
  return invalidInput([{ path, message }]);
}
