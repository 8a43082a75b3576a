import {
  DeleteAccount,
  ResumeAccount,
  SuspendAccount,
} from '../../../../generated/operations/console.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { toast } from '../../../parts/toast.tsx';
import { TypedConfirmation } from '../../../parts/typed-confirmation.tsx';
import { mutate, useMutate } from '../../../server/operations.ts';
import type { ListedAccount } from './account-dialogs.tsx';

/** Lifts a suspension. */
export async function resume({ id, name }: ListedAccount): Promise<void> {
  const { problem } = await mutate(ResumeAccount, { id }, ['Account']);
  toast(problem ? problem.message : `Resumed ${name}.`);
}

export function SuspendAccountDialog({
  account,
  onClose,
}: {
  account: ListedAccount;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(SuspendAccount, ['Account']);
  const submit = async () => {
    const { data } = await run({ id: account.id });
    if (!data?.suspendAccount) return;
    onClose();
    toast(`Suspended ${account.name}.`, () => resume(account));
  };
  return (
    <Dialog title={`Suspend ${account.name}?`} onClose={onClose}>
      <p>
        Its keys are refused, its streams end, and its queued and running runs are cancelled. Its
        data stays. You can resume it; cancelled runs stay cancelled.
      </p>
      <DialogForm
        action="Suspend account"
        isDanger
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Deletes an account after its name or id is typed. An account that another tab has deleted counts as deleted. */
export function DeleteAccountDialog({
  account,
  onClose,
}: {
  account: ListedAccount;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(DeleteAccount, ['Account']);
  const submit = async () => {
    const answer = await run({ id: account.id });
    if (answer.problem && answer.problem.code !== 'NOT_FOUND') return;
    onClose();
    toast(`Deleted ${account.name}.`);
  };
  return (
    <Dialog title={`Delete ${account.name}?`} onClose={onClose}>
      <p>
        This deletes the account with its keys, bots, deployments, conversations, runs and audit
        log. It cannot be undone.
      </p>
      <TypedConfirmation
        expected={[account.name, account.id]}
        label={`Type ${account.name} or its id to confirm`}
        hint={<span className="mono">{account.id}</span>}
        missing="Type the name or the id of the account first."
        action="Delete account"
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
