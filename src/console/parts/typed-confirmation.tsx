import { type ReactNode, useState } from 'react';
import type { Problem } from '../server/problem.ts';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { Refused } from './state.tsx';

/** A form that confirms a deletion once the name of its target is typed. */
export function TypedConfirmation({
  expected,
  label,
  hint,
  missing,
  action,
  isBusy,
  problem,
  onConfirm,
  onCancel,
}: {
  /** The texts of which one must be typed. */
  expected: string[];
  label: string;
  hint?: ReactNode;
  /** Why the action is unavailable until then. */
  missing: string;
  action: string;
  isBusy: boolean;
  problem: Problem | undefined;
  onConfirm(): void;
  onCancel(): void;
}) {
  const [typed, setTyped] = useState('');
  const isTyped = expected.includes(typed.trim());
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isTyped && !isBusy) onConfirm();
      }}
    >
      <TextField
        label={label}
        hint={hint}
        isMono
        autoFocus
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <Refused problem={problem} />
      <div className="actions">
        <Button onClick={onCancel}>Keep it</Button>
        <Button type="submit" look="danger" isBusy={isBusy} unavailable={!isTyped && missing}>
          {action}
        </Button>
      </div>
    </form>
  );
}
