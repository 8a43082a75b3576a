import { Icon } from '../../parts/icon.tsx';
import { Menu } from '../../parts/menu.tsx';
import { useStore } from '../../server/store.ts';
import { OPTIONAL, shownColumns, toggleColumn } from './columns.ts';

/** Chooses the columns of the list. This browser keeps the choice. */
export function ColumnMenu() {
  const shown = useStore(shownColumns);
  return (
    <Menu label="Columns" button={<Icon name="sliders" />}>
      {OPTIONAL.map(({ name, label }) => (
        <button
          key={name}
          type="button"
          role="menuitemcheckbox"
          aria-checked={shown.includes(name)}
          className="menu-item"
          onClick={(event) => {
            // The menu stays open for the next choice.
            event.stopPropagation();
            toggleColumn(name);
          }}
        >
          {label}
        </button>
      ))}
    </Menu>
  );
}
