import type { Observer } from '../observability/observer.ts';
import { ModelError } from './failure.ts';
import type { Model } from './model.ts';

/** The label of models that the operator did not configure. A tenant chooses their names, so metrics omit them. */
const OWN = 'own';

/**
 * Measures every call of a model, with its retry.
 *
 * @param configured the model name that the operator configured; `undefined` for a tenant's model server.
 */
export function observed(model: Model, observer: Observer, configured: string | undefined): Model {
  return {
    ...model,
    async stream(request, ...rest) {
      const startedAt = performance.now();
      try {
        await model.stream(request, ...rest);
      } catch (error) {
        if (error instanceof ModelError) observer.modelFailed(error.reason);
        throw error;
      } finally {
        const label = request.model === configured ? configured : OWN;
        observer.modelCalled(label, (performance.now() - startedAt) / 1_000);
      }
    },
  };
}
