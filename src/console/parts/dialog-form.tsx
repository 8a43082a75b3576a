import type { ReactNode } from 'react';
import type { Problem } from '../server/problem.ts';
import { Button } from './button.tsx';
import { Refused } from './state.tsx';

/** The fields of a dialog, why the server refused them, and two buttons. Problems of a field stand at the field. */
export function DialogForm({
  action,
  isDanger = false,
  isBusy = false,
  problem,
  unavailable,
  onSubmit,
  onCancel,
  children,
}: {
  /** The text of the button that submits. */
  action: string;
  /** Whether the action ends something. */
  isDanger?: boolean;
  isBusy?: boolean;
  problem?: Problem | undefined;
  /** Why the form cannot be submitted yet. */
  unavailable?: string | false | undefined;
  onSubmit(): void;
  onCancel(): void;
  children?: ReactNode;
}) {
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!unavailable && !isBusy) onSubmit();
      }}
    >
      {children}
      {(isDanger || problem?.details.length === 0) && <Refused problem={problem} />}
      <div className="actions">
        <Button onClick={onCancel}>{isDanger ? 'Keep it' : 'Cancel'}</Button>
        <Button
          type="submit"
          look={isDanger ? 'danger' : 'primary'}
          isBusy={isBusy}
          unavailable={unavailable}
        >
          {action}
        </Button>
      </div>
    </form>
  );
}
