/**
 * Loads something once for all that ask while they wait. A load that was under way when somebody asked may be of
 * before: that one gets the next, which begins at its end. So of each key at most one load is under way.
 */
export function createCoalesced<T>(load: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const underWay = new Map<string, Promise<T>>();
  const next = new Map<string, Promise<T>>();

  const begin = (key: string) => {
    const loading = load(key).finally(() => underWay.delete(key));
    underWay.set(key, loading);
    return loading;
  };

  return (key) => {
    const before = underWay.get(key);
    if (!before) return begin(key);
    const known = next.get(key);
    if (known) return known;
    const following = before
      .catch(() => {})
      .then(() => {
        next.delete(key);
        return begin(key);
      });
    next.set(key, following);
    return following;
  };
}
