import { useState } from 'react';
import { RenameBot } from '../../../generated/operations/console.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/toast.tsx';
import { mutate, useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';
import type { ListedBot } from './bot-row.tsx';

/** Changes the name of a bot. The id stays. */
export function RenameBotDialog({ bot, onClose }: { bot: ListedBot; onClose(): void }) {
  const [name, setName] = useState(bot.name);
  const { isBusy, problem, run } = useMutate(RenameBot, ['Bot']);
  const isNew = name.trim() !== '' && name.trim() !== bot.name;
  const submit = async () => {
    const { data } = await run({ id: bot.id, name });
    if (!data?.updateBot) return;
    onClose();
    toast(`Renamed ${bot.name} to ${data.updateBot.name}.`, () => renameBack(bot));
  };
  return (
    <Dialog title={`Rename ${bot.name}`} onClose={onClose}>
      <DialogForm
        action="Rename"
        isBusy={isBusy}
        problem={problem}
        unavailable={!isNew && 'Type a new name first.'}
        onSubmit={() => void submit()}
        onCancel={onClose}
      >
        <TextField
          label="Name"
          required
          maxLength={200}
          value={name}
          error={detailFor(problem, 'input.name')}
          hint={`The id ${bot.id} stays, so nothing that calls the bot changes.`}
          onChange={({ target }) => setName(target.value)}
        />
      </DialogForm>
    </Dialog>
  );
}

async function renameBack({ id, name }: ListedBot): Promise<void> {
  const { problem } = await mutate(RenameBot, { id, name }, ['Bot']);
  toast(problem ? problem.message : `Renamed back to ${name}.`);
}
