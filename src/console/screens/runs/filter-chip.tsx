import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Choice, Choices } from '../../parts/choices.tsx';
import { TextField } from '../../parts/field.tsx';
import { ConditionChip } from './condition-chip.tsx';
import { CHIPS, type ChipName } from './filter-chips.ts';

/** One condition: a chip that opens its value, and removes it. */
export function FilterChip({
  name,
  value,
  fault,
  isNew,
  onChange,
  onLeave,
}: {
  name: ChipName;
  value: string | undefined;
  fault: string | undefined;
  /** Whether the condition was added just now, so that its value is asked for. */
  isNew: boolean;
  onChange(value: string): void;
  /** Is called when the focus leaves the chip and its panel. */
  onLeave(): void;
}) {
  const { label, options } = CHIPS[name];
  return (
    <ConditionChip
      label={label}
      text={value ? `${label}: ${value}` : label}
      isSet={!!value}
      isWrong={!!fault}
      startsOpen={isNew}
      onLeave={onLeave}
      onRemove={() => onChange('')}
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
    </ConditionChip>
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
