import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Choice, Choices } from '../../parts/choices.tsx';
import { TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Popover } from '../../parts/popover.tsx';
import { CHIPS, type ChipName } from './filter-chips.ts';

/** One condition: a chip that opens its value, and removes it. */
export function FilterChip({
  name,
  value,
  fault,
  isNew,
  onChange,
  onClose,
}: {
  name: ChipName;
  value: string | undefined;
  fault: string | undefined;
  /** Whether the condition was added just now, so that its value is asked for. */
  isNew: boolean;
  onChange(value: string): void;
  onClose(): void;
}) {
  const { label, options } = CHIPS[name];
  const look = fault ? ' filter-wrong' : value ? ' filter-set' : '';
  return (
    <span className={`filter${look}`}>
      <Popover
        label={`Filter by ${label}`}
        className="chip chip-button"
        button={<span className="cut">{value ? `${label}: ${value}` : label}</span>}
        startsOpen={isNew}
        onClose={onClose}
      >
        {(close) =>
          options ? (
            <Choices label={label}>
              {options.map((option) => (
                <Choice
                  key={option}
                  type="radio"
                  name={name}
                  label={option}
                  isChosen={option === value?.toLowerCase()}
                  // The panel stays open, because arrow keys choose each option that they pass.
                  onChange={() => onChange(option)}
                />
              ))}
            </Choices>
          ) : (
            <TypedValue
              name={name}
              value={value ?? ''}
              fault={fault}
              onApply={(text) => {
                onChange(text);
                close();
              }}
            />
          )
        }
      </Popover>
      {value && (
        <button
          type="button"
          className="filter-remove"
          aria-label={`Remove the filter by ${label}`}
          onClick={() => onChange('')}
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}

function TypedValue({
  name,
  value,
  fault,
  onApply,
}: {
  name: ChipName;
  value: string;
  fault: string | undefined;
  onApply(value: string): void;
}) {
  const { label, placeholder, hint, isNumber } = CHIPS[name];
  const [typed, setTyped] = useState(value);
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        onApply(typed.trim());
      }}
    >
      <TextField
        label={label}
        isMono
        inputMode={isNumber ? 'numeric' : 'text'}
        placeholder={placeholder}
        hint={hint}
        error={typed === value ? fault : undefined}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Button type="submit" look="primary">
        Apply
      </Button>
    </form>
  );
}
