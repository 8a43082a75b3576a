import type { ModelSettings } from '../language/definition.ts';
import { type ModelError, mayFallBack } from '../model/failure.ts';
import type { Model } from '../model/model.ts';

/** The model of a run's next call. */
export type ModelChoice = {
  name(): string;
  /** Moves on to the next model after a failed call. @returns whether there is one that may answer. */
  next(failure: ModelError): boolean;
};

/**
 * Chooses the models of one run: the definition's or the default one, then the definition's fallback models. The server's
 * own fallback models serve definitions without any.
 */
export function chooseModel(
  { nameFor, fallbacks = [] }: Pick<Model, 'nameFor' | 'fallbacks'>,
  { name, fallback = [...fallbacks] }: Pick<ModelSettings, 'name' | 'fallback'>,
): ModelChoice {
  const first = nameFor(name);
  const others = new Set(fallback.map((other) => nameFor(other)));
  others.delete(first);
  const left = [...others];
  let current = first;
  return {
    name: () => current,
    next(failure) {
      const next = mayFallBack(failure) ? left.shift() : undefined;
      current = next ?? current;
      return next !== undefined;
    },
  };
}
