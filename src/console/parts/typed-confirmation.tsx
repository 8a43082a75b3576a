import { type ComponentProps, type ReactNode, useState } from 'react';
import { DialogForm } from './dialog-form.tsx';
import { TextField } from './field.tsx';

/** A form that confirms a deletion once the name of its target is typed. */
export function TypedConfirmation({
  expected,
  label,
  hint,
  missing,
  ...form
}: {
  /** The texts of which one must be typed. */
  expected: string[];
  label: string;
  hint?: ReactNode;
  /** Why the action is unavailable until then. */
  missing: string;
} & Pick<
  ComponentProps<typeof DialogForm>,
  'action' | 'isBusy' | 'problem' | 'onSubmit' | 'onCancel'
>) {
  const [typed, setTyped] = useState('');
  return (
    <DialogForm isDanger unavailable={!expected.includes(typed.trim()) && missing} {...form}>
      <TextField
        label={label}
        hint={hint}
        isMono
        autoFocus
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </DialogForm>
  );
}
