import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { Faults } from '../../parts/faults.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { countFilters, type FilterChange, type Filters, NO_FILTERS } from '../../runs/filter.ts';
import { FilterChip } from './filter-chip.tsx';
import { CHIP_NAMES, CHIPS, type ChipName } from './filter-chips.ts';
import './filter-bar.css';
import { QuickChips } from './quick-chips.tsx';
import { isQuick } from './quick-filters.ts';
import { TimeChip } from './time-chip.tsx';

/** Pause in typing after which a search begins. */
const PAUSE_MS = 120;

/** The conditions on the runs, each with its problem. */
export function FilterBar({
  botId,
  filters,
  now,
  onChange,
}: {
  botId: string;
  filters: Filters;
  /** The end of a period that has none, in milliseconds since the epoch. */
  now: number;
  /** @param isTyping whether more changes follow, so that the history needs no entry. */
  onChange(change: FilterChange, isTyping?: boolean): void;
}) {
  const { values } = filters;
  // The switch of the environment shows its own problem.
  const { environment: _, ...faults } = filters.faults;
  const [added, setAdded] = useState<ChipName>();
  // A chip stays while it has the focus, also if a choice makes it a quick filter.
  const [edited, setEdited] = useState<ChipName>();
  const isShown = (name: ChipName) =>
    CHIPS[name].isUsual ||
    (values[name] && !isQuick(filters, name)) ||
    name === added ||
    name === edited;
  const hidden = CHIP_NAMES.filter((name) => !isShown(name));
  return (
    <search className="filters" aria-label="Filters">
      <Search
        value={values.text ?? ''}
        isWrong={faults.text !== undefined}
        onChange={(text) => onChange({ text }, true)}
      />
      <TimeChip filters={filters} onChange={onChange} />
      <QuickChips botId={botId} filters={filters} now={now} onChange={onChange} />
      {CHIP_NAMES.filter(isShown).map((name) => (
        <FilterChip
          key={name}
          name={name}
          value={values[name]}
          fault={faults[name]}
          isNew={name === added}
          onChange={(value) => {
            if (value) setEdited(name);
            onChange({ [name]: value });
          }}
          onLeave={() => {
            setAdded(undefined);
            setEdited(undefined);
          }}
        />
      ))}
      {hidden.length > 0 && (
        <Menu label="Add a filter" className="filter-add" button="+ Filter" hasText>
          {hidden.map((name) => (
            <MenuItem key={name} onSelect={() => setAdded(name)}>
              {CHIPS[name].label}
            </MenuItem>
          ))}
        </Menu>
      )}
      {countFilters(filters) > 1 && (
        <button type="button" className="filter-add" onClick={() => onChange(NO_FILTERS)}>
          Clear
        </button>
      )}
      <Faults faults={faults} effect="It is ignored." />
    </search>
  );
}

/** Searches at each pause in typing. */
function Search({
  value,
  isWrong,
  onChange,
}: {
  value: string;
  isWrong: boolean;
  onChange(text: string): void;
}) {
  const [typed, setTyped] = useState(value);
  const sent = useRef(value);
  // The address changed without typing, for example by the browser's Back button.
  if (value !== sent.current) {
    sent.current = value;
    setTyped(value);
  }
  const search = useEffectEvent(onChange);
  useEffect(() => {
    const text = typed.trim();
    if (text === sent.current) return undefined;
    const timer = setTimeout(() => {
      sent.current = text;
      search(text);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  return (
    <label className="filter-search">
      <Icon name="search" size={13} />
      <input
        type="search"
        className="input"
        aria-label="Search what was asked or answered"
        aria-invalid={isWrong || undefined}
        placeholder="Search asked and answered"
        autoComplete="off"
        maxLength={256}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </label>
  );
}
