import { DeleteBot } from '../../../generated/operations/console.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toast.tsx';
import { TypedConfirmation } from '../../parts/typed-confirmation.tsx';
import { useMutate } from '../../server/operations.ts';
import type { ListedBot } from './bot-row.tsx';

/** Deletes a bot after its id is typed. A bot that another tab has deleted counts as deleted. */
export function DeleteBotDialog({ bot, onClose }: { bot: ListedBot; onClose(): void }) {
  const { isBusy, problem, run } = useMutate(DeleteBot, ['Bot']);
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
      <TypedConfirmation
        expected={[bot.id]}
        label={`Type ${bot.id} to confirm`}
        missing="Type the id of the bot first."
        action="Delete bot"
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
