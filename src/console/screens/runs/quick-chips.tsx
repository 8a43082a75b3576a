import { RunCounts } from '../../../generated/operations/console.ts';
import { valuesOf } from '../../../vocabulary/names.ts';
import { MAX_COUNTED_RUNS } from '../../../vocabulary/run-counts.ts';
import { count } from '../../numbers.ts';
import { Icon } from '../../parts/icon.tsx';
import { type FilterChange, type Filters, filterAt } from '../../runs/filter.ts';
import { useServerQuery } from '../../server/operations.ts';
import { QUICK_FILTERS, withQuick } from './quick-filters.ts';

/**
 * Adds or removes a frequent condition by one press. Each chip has the number of runs that match it and the other
 * conditions, without a number while it is unknown.
 *
 * @param now the end of a period that has none, in milliseconds since the epoch.
 */
export function QuickChips({
  botId,
  filters,
  now,
  onChange,
}: {
  botId: string;
  filters: Filters;
  now: number;
  onChange(change: FilterChange): void;
}) {
  const filter = { to: new Date(now).toISOString(), ...filterAt(filters, now) };
  const { data } = useServerQuery(RunCounts, {
    botId,
    failed: withQuick(filter, 'failed'),
    bad: withQuick(filter, 'bad'),
    slow: withQuick(filter, 'slow'),
  });
  return (
    <fieldset className="quick" aria-label="Quick filters">
      {valuesOf(QUICK_FILTERS).map((quick) => {
        const { label, icon, name, value } = QUICK_FILTERS[quick];
        const isOn = filters.values[name]?.toLowerCase() === value;
        const runs = data?.bot?.[quick];
        return (
          <button
            key={quick}
            type="button"
            className={runs === 0 && !isOn ? 'chip chip-button chip-quiet' : 'chip chip-button'}
            aria-pressed={isOn}
            onFocus={({ currentTarget }) => {
              // On a press, the chip must not move below the pointer.
              if (currentTarget.matches(':focus-visible'))
                currentTarget.scrollIntoView({ block: 'nearest', inline: 'nearest' });
            }}
            onClick={() => onChange({ [name]: isOn ? '' : value })}
          >
            <Icon name={icon} size={13} />
            {label}
            {runs != null && <b>{`${count(runs)}${runs < MAX_COUNTED_RUNS ? '' : '+'}`}</b>}
          </button>
        );
      })}
    </fieldset>
  );
}
