/**
 * Shares one load between concurrent calls with the same key. A call during a load gets the next load, because the
 * current one may have read outdated data. At most one load per key runs at a time.
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
