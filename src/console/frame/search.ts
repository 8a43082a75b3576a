import { useSearch } from 'wouter/use-browser-location';

/**
 * The search of the address with an additional encoding. The router decodes it before it reads the parameters, which are
 * decoded again, so that a parameter with the text `%2F` would be read as `/`.
 */
export function useEncodedSearch(): string {
  return useSearch().replaceAll('%', '%25');
}
