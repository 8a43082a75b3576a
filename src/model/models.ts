import { LRUCache } from 'lru-cache';
import { VERSION } from '../version.ts';
import { withHeaders } from './fetch.ts';
import type { Model } from './model.ts';
import { createOpenAIModel, NO_KEY } from './openai.ts';

/** The server that a definition names in place of the operator's. */
export type OwnServer = { baseUrl?: string | undefined; apiKey?: string | undefined };

/** The models of this process: the operator's, and those of the servers that definitions name. */
export type Models = {
  /** The model at a server for an account; the operator's where no server is named. */
  at(server: OwnServer, accountId?: string): Model;
};

const CACHE_SIZE = 1_000;

/**
 * @param fetchOf how an account's requests leave for servers that definitions name; it lets none through to private ones. They carry
 *   four headers: the server's own key, the two of JSON, and the user agent. None of the `openai` client's own leave,
 *   nor those of `OPENAI_CUSTOM_HEADERS`, and no `traceparent`.
 */
export function createModels({
  standard,
  fetchOf,
}: {
  standard: Model;
  fetchOf: (accountId: string) => typeof globalThis.fetch;
}): Models {
  const own = new LRUCache<string, Model>({ max: CACHE_SIZE });
  return {
    at({ baseUrl, apiKey }, accountId = '') {
      if (baseUrl === undefined && apiKey === undefined) return standard;
      const key = JSON.stringify([accountId, baseUrl, apiKey]);
      const known = own.get(key);
      if (known) return known;
      const model = createOpenAIModel({
        baseUrl,
        apiKey,
        fetch: withHeaders(fetchOf(accountId), {
          accept: 'application/json',
          authorization: `Bearer ${apiKey ?? NO_KEY}`,
          'content-type': 'application/json',
          'user-agent': `parley/${VERSION}`,
        }),
        defaultModel: standard.nameFor(),
      });
      own.set(key, model);
      return model;
    },
  };
}
