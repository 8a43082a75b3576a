import { useState } from 'react';
import { SetFact } from '../../../generated/operations/console.ts';
import type { Fact } from '../../chat/stored-turns.ts';
import type { SessionName } from '../../chat/use-stored-session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';

/** Adds a fact, or changes the value of one. A name that exists already gets the new value. */
export function FactDialog({
  session,
  fact,
  facts,
  onSaved,
  onClose,
}: {
  session: SessionName;
  /** Absent for a new fact. */
  fact: Fact | undefined;
  facts: Fact[];
  /** @param before the value before; absent if the fact is new. */
  onSaved(name: string, before: string | undefined): void;
  onClose(): void;
}) {
  const [name, setName] = useState(fact?.name ?? '');
  const [value, setValue] = useState(fact?.value ?? '');
  const { isBusy, problem, run } = useMutate(SetFact);
  const before = facts.find((one) => one.name === name);
  const isReady = name !== '' && value !== '' && value !== before?.value;
  const submit = async () => {
    const answer = await run({ ...session, name, value });
    if (!answer.problem) onSaved(name, before?.value);
  };
  return (
    <Dialog title={fact ? `Change ${fact.name}` : 'Add a fact'} onClose={onClose}>
      <DialogForm
        action="Save"
        isBusy={isBusy}
        problem={problem}
        unavailable={!isReady && 'Type a new value first.'}
        onSubmit={() => void submit()}
        onCancel={onClose}
      >
        {!fact && (
          <TextField
            label="Name"
            isMono
            maxLength={64}
            placeholder="favourite_colour"
            value={name}
            error={detailFor(problem, 'name')}
            hint={
              before
                ? 'The bot remembers a fact of this name. It gets the new value.'
                : 'Letters, digits and “_”, no digit first.'
            }
            onChange={({ target }) => setName(target.value.trim())}
          />
        )}
        <TextArea
          label="Value"
          rows={3}
          maxLength={4_000}
          value={value}
          error={detailFor(problem, 'value')}
          hint="It is in the prompt of the next message."
          onChange={({ target }) => setValue(target.value)}
        />
      </DialogForm>
    </Dialog>
  );
}
