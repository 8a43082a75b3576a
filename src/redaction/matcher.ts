/**
 * Finds many patterns in one pass over a text, one UTF-16 code unit at a time: the automaton of Aho and Corasick
 * ("Efficient string matching", 1975). Time is linear in the text; memory is 22 bytes per code unit of the patterns. We
 * use no library because none exposes the state between units, which decides how much of a stream to withhold.
 */
export type Matcher = {
  /** The state after a unit. The initial state is 0. */
  next(state: number, unit: number): number;
  /** By state: the length of the longest pattern prefix that ends the text. */
  depth: Int32Array;
  /** By state: the index of the longest pattern that ends the text, or -1. */
  match: Int32Array;
  /** Memory, in bytes. */
  size: number;
};

const ASCII = 128;

/** A state with more children has a table of them, so that a step takes constant time. */
const MAX_SIBLINGS = 4;

type Table = { first: number; ascii: Int32Array; others: Map<number, number> };

/** @param patterns non-empty strings. Of equal patterns, the first one wins. */
export function createMatcher(patterns: readonly string[]): Matcher {
  const capacity = 1 + patterns.reduce((sum, { length }) => sum + length, 0);
  const unitOf = new Uint16Array(capacity);
  const firstChild = new Int32Array(capacity);
  const sibling = new Int32Array(capacity);
  /** The state of the longest proper suffix that is also a pattern prefix. */
  const fallback = new Int32Array(capacity);
  /**
   * The first state among the fallbacks that has a child which this state lacks. Repeated units would otherwise take a step
   * for each of them (Knuth, Morris, Pratt, "Fast pattern matching in strings", 1977).
   */
  const skip = new Int32Array(capacity);
  const depth = new Int32Array(capacity);
  const match = new Int32Array(capacity).fill(-1);
  /** The children of states with many of them, state 0 included. Negative numbers in `firstChild` refer to them. */
  const tables: Table[] = [];
  let count = 1;

  const childOf = (state: number, unit: number): number => {
    let child = firstChild[state] ?? 0;
    if (child < 0) {
      const table = tables[~child];
      return (unit < ASCII ? table?.ascii[unit] : table?.others.get(unit)) ?? 0;
    }
    while (child !== 0 && unitOf[child] !== unit) child = sibling[child] ?? 0;
    return child;
  };

  const addChild = (state: number, unit: number): number => {
    const child = count;
    count += 1;
    unitOf[child] = unit;
    depth[child] = (depth[state] ?? 0) + 1;
    const table = tables[~(firstChild[state] ?? 0)];
    sibling[child] = table?.first ?? firstChild[state] ?? 0;
    if (table) addTo(table, child);
    else firstChild[state] = child;
    if (!table && siblingsOf(child).length > MAX_SIBLINGS) addTable(state);
    return child;
  };

  const siblingsOf = (first: number): number[] => {
    const siblings: number[] = [];
    for (let child = first; child !== 0; child = sibling[child] ?? 0) siblings.push(child);
    return siblings;
  };

  const addTo = (table: Table, child: number) => {
    const unit = unitOf[child] ?? 0;
    table.first = child;
    if (unit < ASCII) table.ascii[unit] = child;
    else table.others.set(unit, child);
  };

  const addTable = (state: number) => {
    const table = { first: 0, ascii: new Int32Array(ASCII), others: new Map() };
    for (const child of siblingsOf(firstChild[state] ?? 0).reverse()) addTo(table, child);
    firstChild[state] = ~tables.length;
    tables.push(table);
  };

  /** Whether a state has all children of another one. States with a table are not compared. */
  const hasChildrenOf = (state: number, other: number): boolean => {
    let child = firstChild[other] ?? 0;
    if (child < 0) return false;
    while (child !== 0 && childOf(state, unitOf[child] ?? 0) !== 0) child = sibling[child] ?? 0;
    return child === 0;
  };

  const next = (from: number, unit: number): number => {
    for (let state = from; ; state = skip[state] ?? 0) {
      const child = childOf(state, unit);
      if (child !== 0 || state === 0) return child;
    }
  };

  addTable(0);
  for (const [index, pattern] of patterns.entries()) {
    let state = 0;
    for (let at = 0; at < pattern.length; at += 1) {
      const unit = pattern.charCodeAt(at);
      state = childOf(state, unit) || addChild(state, unit);
    }
    if (match[state] === -1) match[state] = index;
  }

  // Breadth first: the fallback of a state is shorter, so it is already computed.
  const queue = new Int32Array(count);
  for (let read = 0, written = 1; read < written; read += 1) {
    const state = queue[read] ?? 0;
    const first = firstChild[state] ?? 0;
    for (const child of siblingsOf(first < 0 ? (tables[~first]?.first ?? 0) : first)) {
      const shorter = state === 0 ? 0 : next(fallback[state] ?? 0, unitOf[child] ?? 0);
      fallback[child] = shorter;
      skip[child] = hasChildrenOf(child, shorter) ? (skip[shorter] ?? 0) : shorter;
      if (match[child] === -1) match[child] = match[shorter] ?? -1;
      queue[written] = child;
      written += 1;
    }
  }

  return { next, depth, match, size: capacity * 22 + tables.length * ASCII * 4 };
}
