import { useCallback } from 'react';
import { useSearchParams } from 'wouter';

/**
 * Reads the parameters of the address, and changes them without an entry in the history.
 *
 * @param read stays the same function, as does `written`.
 */
export function useAddress<Parameters>(
  read: (search: URLSearchParams) => Parameters,
  written: (parameters: Parameters) => URLSearchParams,
): [Parameters, (changes: Partial<Parameters>) => void] {
  const [search, setSearch] = useSearchParams();
  const change = useCallback(
    (changes: Partial<Parameters>) => {
      setSearch((before) => written({ ...read(before), ...changes }), { replace: true });
    },
    [setSearch, read, written],
  );
  return [read(search), change];
}
