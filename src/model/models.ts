import { LRUCache } from 'lru-cache';
import type { Observer } from '../observability/observer.ts';
import { VERSION } from '../text/version.ts';
import { type ModelFetch, withHeaders } from './fetch.ts';
import { createLearnedForms } from './learned.ts';
import type { Model } from './model.ts';
import { observed } from './observed.ts';
import { createOpenAIModel, NO_KEY } from './openai.ts';

/** The model server that a definition uses instead of the operator's. */
export type OwnServer = { baseUrl?: string | undefined; apiKey?: string | undefined };

/** The operator's model and the models at servers that definitions name. */
export type Models = {
  /** Returns the model at a server for an account, or the operator's model if no server is given. */
  at(server: OwnServer, accountId?: string): Model;
};

const CACHE_SIZE = 1_000;

/**
 * @param fetchOf the guarded `fetch` of an account, for servers that definitions name. Its requests carry only the
 *   headers `Authorization`, `Accept`, `Content-Type` and `User-Agent`: not the headers of the `openai` client or of
 *   `OPENAI_CUSTOM_HEADERS`, and no `traceparent`.
 */
export function createModels({
  standard,
  fetchOf,
  observer,
}: {
  standard: Model;
  fetchOf: (accountId: string) => ModelFetch;
  observer: Observer;
}): Models {
  const learned = createLearnedForms();
  const operators = observed(standard, observer, standard.nameFor());
  const own = new LRUCache<string, Model>({ max: CACHE_SIZE });
  return {
    at({ baseUrl, apiKey }, accountId = '') {
      if (baseUrl === undefined && apiKey === undefined) return ofAccount(operators, accountId);
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
        learned,
      });
      const measured = ofAccount(observed(model, observer, undefined), accountId);
      own.set(key, measured);
      return measured;
    },
  };
}

/** A model whose calls belong to an account. */
function ofAccount(model: Model, accountId: string): Model {
  return {
    ...model,
    stream: (request, ...rest) => model.stream({ ...request, accountId }, ...rest),
  };
}
