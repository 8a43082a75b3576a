import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/** Changes parameters. @param isStep whether the browser's history gets an entry, so that Back undoes the change. */
export type ChangeAddress<Parameters> = (changes: Partial<Parameters>, isStep?: boolean) => void;

/**
 * Reads the parameters of the address, and changes them.
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
      setSearch((before) => written({ ...read(before), ...changes }), { replace: !isStep });
    },
    [setSearch, read, written],
  );
  return [read(search), change];
}
