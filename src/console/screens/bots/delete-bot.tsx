import { useState } from 'react';
import { DeleteBot } from '../../../operations/console/operations.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { Refused } from '../../parts/state.tsx';
import { toast } from '../../parts/toast.tsx';
import { useMutate } from '../../server/operations.ts';
import type { ListedBot } from './bot-row.tsx';

/** Deletes a bot after its id is typed. A bot that another tab has deleted counts as deleted. */
export function DeleteBotDialog({ bot, onClose }: { bot: ListedBot; onClose(): void }) {
  const [typed, setTyped] = useState('');
  const { isBusy, problem, run } = useMutate(DeleteBot, ['Bot']);
  const isTyped = typed.trim() === bot.id;
  const submit = async () => {
    const answer = await run({ id: bot.id });
    if (answer.problem && answer.problem.code !== 'BOT_NOT_FOUND') return;
    onClose();
    toast(`Deleted ${bot.name}.`);
  };
  return (
    <Dialog title={`Delete ${bot.name}?`} onClose={onClose}>
      <p>
        This deletes the bot with its deployments, conversations and runs, and cancels what it is
        doing. It cannot be undone, and the id is never given to another bot.
      </p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (isTyped && !isBusy) void submit();
        }}
      >
        <TextField
          label={`Type ${bot.id} to confirm`}
          isMono
          autoFocus
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
        />
        <Refused problem={problem} />
        <div className="actions">
          <Button onClick={onClose}>Keep it</Button>
          <Button
            type="submit"
            look="danger"
            isBusy={isBusy}
            unavailable={!isTyped && 'Type the id of the bot first.'}
          >
            Delete bot
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
