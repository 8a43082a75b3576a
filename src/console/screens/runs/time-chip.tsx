import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Choice, Choices } from '../../parts/choices.tsx';
import { TextField } from '../../parts/field.tsx';
import { type FilterChange, type Filters, RANGES } from '../../runs/filter.ts';
import { ConditionChip } from './condition-chip.tsx';

const NO_TIME: FilterChange = { range: '', date: '', from: '', to: '' };

const moment = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** The period of the runs: one that ends now, a UTC day, or from one moment to another. */
export function TimeChip({
  filters: { values, faults, filter },
  onChange,
}: {
  filters: Filters;
  onChange(change: FilterChange): void;
}) {
  const isSet = values.range || values.date || values.from || values.to;
  const isWrong = faults.range || faults.date || faults.from || faults.to;
  return (
    <ConditionChip
      label="time"
      text={labelOf(values, filter)}
      isSet={!!isSet}
      isWrong={!!isWrong}
      onRemove={() => onChange(NO_TIME)}
    >
      {(close) => (
        <>
          <Choices label="Period">
            {Object.entries(RANGES).map(([range, { label }]) => (
              <Choice
                key={range}
                type="radio"
                name="range"
                label={label}
                isChosen={range === values.range && !faults.range}
                // The panel stays open, because arrow keys choose each option that they pass.
                onChange={() => onChange({ ...NO_TIME, range })}
              />
            ))}
          </Choices>
          <Between
            from={localOf(filter.from)}
            to={localOf(filter.to)}
            onApply={(from, to) => {
              onChange({ ...NO_TIME, from, to });
              close();
            }}
          />
        </>
      )}
    </ConditionChip>
  );
}

function Between({
  from,
  to,
  onApply,
}: {
  from: string;
  to: string;
  onApply(from: string, to: string): void;
}) {
  const [typed, setTyped] = useState({ from, to });
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(isoOf(typed.from), isoOf(typed.to));
      }}
    >
      <TextField
        label="From"
        type="datetime-local"
        value={typed.from}
        onChange={({ target }) => setTyped({ ...typed, from: target.value })}
      />
      <TextField
        label="To"
        type="datetime-local"
        value={typed.to}
        onChange={({ target }) => setTyped({ ...typed, to: target.value })}
      />
      <Button type="submit" look="primary">
        Apply
      </Button>
    </form>
  );
}

function labelOf(values: Filters['values'], { date, from, to }: Filters['filter']): string {
  if (date) return `on ${date}, UTC`;
  const words = (iso: string) => moment.format(new Date(iso));
  if (from && to) return `${words(from)} – ${words(to)}`;
  if (from) return `from ${words(from)}`;
  if (to) return `until ${words(to)}`;
  return RANGES[values.range ?? '']?.label ?? 'time';
}

/** A time as the browser's field for local times has it. */
function localOf(iso: string | null | undefined): string {
  if (!iso) return '';
  const time = new Date(iso);
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

function isoOf(local: string): string {
  return local === '' ? '' : new Date(local).toISOString();
}
