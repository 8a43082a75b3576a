import { useRef } from 'react';
import { BotName, RenameBot } from '../../../generated/operations/console.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { TextField } from '../../parts/field.tsx';
import { SettingsConflict } from '../../parts/settings-conflict.tsx';
import { toast } from '../../parts/toast.tsx';
import { ask, mutate, useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';
import { useSettingsDraft } from '../../server/use-settings-draft.ts';
import type { ListedBot } from './bot-row.tsx';

/** Changes the name of a bot. The id stays. A name that somebody else gave it meanwhile is replaced only on a second request. */
export function RenameBotDialog({ bot, onClose }: { bot: ListedBot; onClose(): void }) {
  // The name that the undo restores: somebody else may have changed the listed one.
  const before = useRef(bot.name);
  const draft = useSettingsDraft({ name: bot.name }, async () => {
    const { data } = await ask(BotName, { id: bot.id });
    if (!data?.bot) return undefined;
    before.current = data.bot.name;
    return { name: data.bot.name };
  });
  const { name } = draft.values;
  const { isBusy, problem, run } = useMutate(RenameBot, ['Bot']);
  const isNew = name.trim() !== '' && name.trim() !== bot.name;
  const submit = async () => {
    const merged = await draft.merged();
    if (!merged) return;
    const { data } = await run({ id: bot.id, name: merged.name });
    if (!data?.updateBot) return;
    onClose();
    const former = { id: bot.id, name: before.current };
    toast(`Renamed ${former.name} to ${data.updateBot.name}.`, () => renameBack(former));
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
          onChange={({ target }) => draft.change({ name: target.value })}
        />
        {draft.conflict && <SettingsConflict values={[['Name', draft.conflict.name ?? '']]} />}
      </DialogForm>
    </Dialog>
  );
}

async function renameBack({ id, name }: Pick<ListedBot, 'id' | 'name'>): Promise<void> {
  const { problem } = await mutate(RenameBot, { id, name }, ['Bot']);
  toast(problem ? problem.message : `Renamed back to ${name}.`);
}
