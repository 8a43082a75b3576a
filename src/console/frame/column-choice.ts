import { createStore, type Store } from '../server/store.ts';
import { readItem, writeItem } from './storage.ts';

/** A column of a list that can be hidden. */
export type Column<Name extends string> = { name: Name; label: string };

/** The columns of a list that show. This browser keeps the choice. */
export type ColumnChoice<Name extends string> = {
  shown: Store<readonly Name[]>;
  /** The columns that can be hidden. */
  optional: readonly Column<Name>[];
  toggle(name: Name): void;
};

/**
 * @param item the name under which this browser keeps the choice.
 * @param first the columns that show before anything is chosen.
 * @param fixed the columns that always show.
 */
export function createColumnChoice<Name extends string>(
  item: string,
  columns: readonly Column<Name>[],
  first: readonly Name[],
  fixed: readonly Name[] = [],
): ColumnChoice<Name> {
  const kept = readItem(item)?.split(' ');
  const isShown = (name: Name) =>
    fixed.includes(name) || (kept ? kept.includes(name) : first.includes(name));
  const shown = createStore<readonly Name[]>(
    columns.map(({ name }) => name).filter((name) => isShown(name)),
  );
  return {
    shown,
    optional: columns.filter(({ name }) => !fixed.includes(name)),
    toggle(name) {
      const before = shown.get();
      const next = before.includes(name) ? before.filter((one) => one !== name) : [...before, name];
      shown.set(next);
      writeItem(item, next.join(' '));
    },
  };
}
