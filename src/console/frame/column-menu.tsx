import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { useStore } from '../server/store.ts';
import type { ColumnChoice } from './column-choice.ts';

/** Chooses the columns of a list. */
export function ColumnMenu<Name extends string>({
  choice: { shown, optional, toggle },
}: {
  choice: ColumnChoice<Name>;
}) {
  const names = useStore(shown);
  return (
    <Menu label="Columns" button={<Icon name="columns" />}>
      {optional.map(({ name, label }) => (
        <MenuItem
          key={name}
          role="menuitemcheckbox"
          isChecked={names.includes(name)}
          onSelect={() => toggle(name)}
        >
          {label}
        </MenuItem>
      ))}
    </Menu>
  );
}
