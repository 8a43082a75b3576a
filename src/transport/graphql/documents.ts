import { hash } from 'node:crypto';
import type { DocumentNode, GraphQLSchema } from 'graphql';
import { LRUCache } from 'lru-cache';
import { GatewayError, StartupError } from '../../errors.ts';
import * as chatOperations from '../../operations/chat.ts';
import * as deploymentOperations from '../../operations/deployments.ts';
import type { Operation } from '../../operations/operation.ts';
import * as runOperations from '../../operations/runs.ts';
import { type ReadDocument, readDocument } from '../../schema/admission/document.ts';
import type { GraphQLRequest } from './request.ts';

/** Texts of documents by their ids, beside Parley's own. */
export type Manifest = Readonly<Record<string, string>>;

/**
 * The documents of all GraphQL transports. Clients may ask for some by id: those of `operations/`, which REST runs,
 * and those of the operator's manifest. The id of each is also `sha256:` and the hash of its text in UTF-8.
 * Source: GraphQL over HTTP, appendix A, "Persisted Documents".
 */
export type Documents = {
  /**
   * The text that a request asks to run. A `query` of no characters is none.
   *
   * @throws GatewayError for an id that is unknown or no string, for an id beside a text, for neither, and for a text
   *   where only documents with an id run.
   */
  textOf(request: Pick<GraphQLRequest, 'query' | 'documentId'>): string;
  /** A document that needs no reading: one that has an id, or one that is cached. */
  find(text: string): ReadDocument | undefined;
  /**
   * Parses and validates a document.
   *
   * @param keep whether to cache it. Only valid documents are cached, 16 MiB in total.
   * @throws GatewayError where only documents with an id run: whatever the request held, no other text runs.
   */
  read(text: string, options: { keep: boolean }): ReadDocument;
  /** Estimated bytes of all cached documents. */
  cachedBytes(): number;
};

/** Bytes that cached documents take in total, and one at most. */
const MAX_CACHED_BYTES = 16 * 1024 * 1024;
const MAX_DOCUMENT_BYTES = 1024 * 1024;
/** What a token takes in memory with its syntax nodes and locations, measured on Node.js 24: 90 to 507 bytes. */
const BYTES_PER_TOKEN = 512;

/**
 * @param only whether no documents run but those that have an id.
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
      if (query) throw refused('documentId', 'must not come with query');
      const text = texts.get(documentId);
      if (text !== undefined) return text;
      throw new GatewayError('not_found', 'No document has this documentId.');
    },

    find: (text) => known.get(text) ?? cache.get(text),

    read(text, { keep }) {
      if (only) throw noText();
      const read = readDocument(schema, text);
      if (keep && read.document) cache.set(text, read);
      return read;
    },

    cachedBytes: () => cache.calculatedSize,
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

/** The tokens of a document in memory: all that its nodes refer to, comments too. */
function tokensOf({ loc }: DocumentNode): number {
  let count = 0;
  for (let token = loc?.startToken ?? null; token; token = token.next) count += 1;
  return count;
}

function noText(): GatewayError {
  return refused('query', 'only documents with an id run here; send documentId');
}

function refused(path: string, message: string): GatewayError {
  return new GatewayError('invalid_request', `${path}: ${message}`, {
    details: [{ path, message }],
  });
}
