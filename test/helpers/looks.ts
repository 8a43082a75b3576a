import { createLooks, type Look, type Looks } from '../../src/coordination/looks.ts';
import type { Database } from '../../src/storage/database.ts';

/** Looks that are never asked, for parts that add some. */
export const NO_LOOKS: Looks = {
  add: () => {},
  now: async () => {},
  start: () => new AsyncDisposableStack(),
};

/** Asks these questions at once and at intervals, until it is disposed of. */
export function startLooks(
  { sql }: Pick<Database, 'sql'>,
  ...added: Look[]
): ReturnType<Looks['start']> {
  const looks = createLooks({ sql, owner: { id: () => 'own_none' }, log: { error: () => {} } });
  for (const look of added) looks.add(look);
  return looks.start();
}
