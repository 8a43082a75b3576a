import { matchSorter } from 'match-sorter';
import type { IconName } from '../../parts/icon.tsx';

/** Something that the palette can do or open. */
export type Command = {
  /** Stays the same, so that recent commands can be remembered. */
  id: string;
  group: string;
  label: string;
  /** An id or a state, shown beside the label. */
  detail?: string | undefined;
  icon: IconName;
  /** Further words that find it. */
  words?: string | undefined;
  run(): void;
};

/** Commands under one heading. */
export type Group = { heading: string; commands: Command[] };

/** Recent commands at the top, and results at most. */
const MAX_RECENT = 5;
const MAX_FOUND = 50;

/**
 * Finds the commands for a text. Its letters need to occur in order only. Without a text it returns the recent commands,
 * then all in their groups.
 *
 * @param recent ids of commands, the last used one first.
 */
export function findCommands(commands: Command[], text: string, recent: string[]): Group[] {
  if (text.trim() === '') return grouped(commands, recent);
  const ageOf = ({ id }: Command) => (recent.includes(id) ? recent.indexOf(id) : recent.length);
  const found = matchSorter(commands, text.trim(), {
    keys: ['label', 'detail', ({ group, label, words = '' }) => `${group} ${label} ${words}`],
    baseSort: (one, other) => ageOf(one.item) - ageOf(other.item) || one.index - other.index,
  });
  return found.length > 0 ? [{ heading: 'Found', commands: found.slice(0, MAX_FOUND) }] : [];
}

function grouped(commands: Command[], recent: string[]): Group[] {
  const known = recent.flatMap((id) => commands.find((command) => command.id === id) ?? []);
  const first = known.slice(0, MAX_RECENT);
  const others = commands.filter((command) => !first.includes(command));
  return [
    ...(first.length > 0 ? [{ heading: 'Recent', commands: first }] : []),
    ...[...Map.groupBy(others, ({ group }) => group)].map(([heading, inside]) => ({
      heading,
      commands: inside,
    })),
  ];
}
