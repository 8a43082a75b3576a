import { type ComponentType, type ReactNode, useEffect } from 'react';
import { returns } from '../server/connection.ts';
import { createStore, type Store, useStore } from '../server/store.ts';

/** The default export of a module that loads on demand, `undefined` until then. */
export type LazyModule<Value> = Pick<Store<Value | undefined>, 'get' | 'subscribe'> & {
  load(): void;
};

export function createLazyModule<Value>(
  load: () => Promise<{ default: Value }>,
): LazyModule<Value> {
  const { get, set, subscribe } = createStore<Value | undefined>(undefined);
  return {
    get,
    subscribe,
    load: () => {
      // The next user of the module, and the return of the server, load it again.
      load().then(
        (module) => set(module.default),
        () => {},
      );
    },
  };
}

/** Loads a module once the component shows, and again when the server is back after a failure. */
export function useLazyModule<Value>(module: LazyModule<Value>): Value | undefined {
  const value = useStore(module);
  const returned = useStore(returns);
  const isMissing = value === undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the return of the server is a reason to load again
  useEffect(() => {
    if (isMissing) module.load();
  }, [module, isMissing, returned]);
  return value;
}

/**
 * A component whose code loads when it first shows. React's `lazy` shows what replaces a placeholder up to 300 ms late,
 * and removes the whole page if the code cannot be loaded.
 *
 * @param Placeholder shows until then, with the same properties.
 */
export function lazyPart<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
  Placeholder?: ComponentType<Props>,
): (props: Props) => ReactNode {
  const module = createLazyModule(load);
  return function LazyPart(props: Props) {
    const Part = useLazyModule(module);
    if (Part) return <Part {...props} />;
    return Placeholder && <Placeholder {...props} />;
  };
}
