import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** Changes parameters. @param isStep whether the browser's history gets an entry, so that Back undoes the change. */
export type ChangeAddress<Parameters> = (changes: Partial<Parameters>, isStep?: boolean) => void;

/**
 * Reads the parameters of the address, and changes them. The switch of the environment alone changes its parameter.
 *
 * @param read stays the same function, as does `written`.
 */
export function useAddress<Parameters>(
  read: (search: URLSearchParams) => Parameters,
  written: (parameters: Parameters) => URLSearchParams,
): [Parameters, ChangeAddress<Parameters>] {
  const [search, setSearch] = useSearchParams();
  const change = useCallback<ChangeAddress<Parameters>>(
    (changes, isStep = false) => {
      setSearch(
        (before) => {
          const next = written({ ...read(before), ...changes });
          const environment = before.get('environment');
          if (environment) next.set('environment', environment);
          return next;
        },
        { replace: !isStep },
      );
    },
    [setSearch, read, written],
  );
  return [read(search), change];
}
