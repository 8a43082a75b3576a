import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { useStore } from '../../server/store.ts';
import { OPTIONAL, shownColumns, toggleColumn } from './columns.ts';

/** Chooses the columns of the list. This browser keeps the choice. */
export function ColumnMenu() {
  const shown = useStore(shownColumns);
  return (
    <Menu label="Columns" button={<Icon name="sliders" />}>
      {OPTIONAL.map(({ name, label }) => (
        <MenuItem
          key={name}
          role="menuitemcheckbox"
          isChecked={shown.includes(name)}
          onSelect={() => toggleColumn(name)}
        >
          {label}
        </MenuItem>
      ))}
    </Menu>
  );
}
