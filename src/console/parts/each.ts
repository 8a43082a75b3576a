import { createElement, Fragment, type ReactNode } from 'react';

/** Renders items that have no identity but their place, and never move. React keeps each by its place. */
export function each<Item>(
  items: readonly Item[],
  render: (item: Item, at: number) => ReactNode,
): ReactNode {
  return items.map((item, at) => createElement(Fragment, { key: `${at}` }, render(item, at)));
}
