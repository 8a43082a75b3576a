import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { nameFault, type Renaming } from './language/rename.ts';

/** Asks for a new name of a fact, an input, a capability or a group, and shows how many places change. */
export function RenameDialog({
  renaming,
  onRename,
  onClose,
}: {
  renaming: Renaming;
  onRename(name: string): void;
  onClose(): void;
}) {
  const { kind, name, ranges } = renaming;
  const [typed, setTyped] = useState(name);
  const fault = typed === '' ? undefined : nameFault(typed, renaming);
  const isReady = typed !== '' && !fault;
  return (
    <Dialog title={`Rename the ${kind} ${name}`} onClose={onClose}>
      <DialogForm
        action="Rename"
        unavailable={!isReady && 'Type a name that the language allows.'}
        onSubmit={() => onRename(typed)}
        onCancel={onClose}
      >
        <TextField
          label="New name"
          isMono
          value={typed}
          error={fault}
          hint={
            ranges.length === 1
              ? 'It is used in one place.'
              : `It is used in ${ranges.length} places.`
          }
          onFocus={({ target }) => target.select()}
          onChange={({ target }) => setTyped(target.value)}
        />
      </DialogForm>
    </Dialog>
  );
}
