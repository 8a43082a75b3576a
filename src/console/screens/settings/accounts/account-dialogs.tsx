import {
  CreateAccount,
  type ListedAccountFragment,
  UpdateAccount,
  type UpdateAccountMutationVariables,
} from '../../../../generated/operations/console.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { toast } from '../../../parts/toast.tsx';
import { mutate, useMutate } from '../../../server/operations.ts';
import type { Issued } from '../secret.tsx';
import { type AccountDraft, AccountForm } from './account-form.tsx';

export type ListedAccount = ListedAccountFragment;

/** Creates an account. @param onIssued receives the secret of its first key, which the server returns once. */
export function CreateAccountDialog({
  onIssued,
  onClose,
}: {
  onIssued(issued: Issued): void;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(CreateAccount, ['Account']);
  const submit = async (input: AccountDraft) => {
    const { data } = await run({ input });
    if (!data?.createAccount) return;
    onIssued({
      title: `First key of ${input.name}`,
      secret: data.createAccount.secret,
      note: 'Give it to the owner of the account. It has every scope except operator.',
    });
  };
  return (
    <Dialog title="New account" onClose={onClose}>
      <AccountForm
        action="Create account"
        isBusy={isBusy}
        problem={problem}
        onSubmit={submit}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Changes the name, the plan and the limits of an account. */
export function ChangeAccountDialog({
  account,
  onClose,
}: {
  account: ListedAccount;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(UpdateAccount, ['Account', 'RateLimit']);
  const submit = async (input: AccountDraft) => {
    const { data } = await run({ id: account.id, input });
    if (!data?.updateAccount) return;
    onClose();
    toast(`Changed ${data.updateAccount.name}.`, () => restore(account));
  };
  return (
    <Dialog title={`Change ${account.name}`} onClose={onClose}>
      <AccountForm
        edited={account}
        action="Save"
        isBusy={isBusy}
        problem={problem}
        onSubmit={submit}
        onCancel={onClose}
      />
    </Dialog>
  );
}

async function restore(account: ListedAccount): Promise<void> {
  const { id, name, plan, requestsPerMinute, requestsPerDay } = account;
  const limits = plan === 'ENTERPRISE' ? { requestsPerMinute, requestsPerDay } : {};
  const variables: UpdateAccountMutationVariables = { id, input: { name, plan, ...limits } };
  const { problem } = await mutate(UpdateAccount, variables, ['Account', 'RateLimit']);
  toast(problem ? problem.message : `Changed ${name} back.`);
}
