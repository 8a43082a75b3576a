import { CreateKey, UpdateKey } from '../../../../generated/operations/console.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { toast } from '../../../parts/toast.tsx';
import { mutate, useMutate } from '../../../server/operations.ts';
import { useViewer } from '../../../server/viewer.ts';
import type { Issued } from '../secret.tsx';
import { changesOf, type KeyDraft, type ListedKey, valuesOf } from './key.ts';
import { KeyForm } from './key-form.tsx';

/** Creates a key. @param onIssued receives its secret, which the server returns once. */
export function CreateKeyDialog({
  onIssued,
  onClose,
}: {
  onIssued(issued: Issued): void;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(CreateKey, ['ApiKey']);
  const submit = async ({ name, scopes, botIds, expiresAt }: KeyDraft) => {
    const { data } = await run({
      input: { name, scopes, ...(botIds && { botIds }), ...(expiresAt && { expiresAt }) },
    });
    if (data?.createApiKey)
      onIssued({ title: `New key ${name}`, secret: data.createApiKey.secret });
  };
  return (
    <Dialog title="New API key" onClose={onClose}>
      <KeyForm
        action="Create key"
        isBusy={isBusy}
        problem={problem}
        onSubmit={submit}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Changes the name, the rights or the expiry of a key. */
export function EditKeyDialog({ edited, onClose }: { edited: ListedKey; onClose(): void }) {
  const { isBusy, problem, run } = useMutate(UpdateKey, ['ApiKey']);
  const isOwn = useViewer().apiKey.id === edited.id;
  const submit = async (draft: KeyDraft) => {
    const changes = changesOf(edited, draft);
    if (Object.keys(changes).length === 0) return onClose();
    const { data } = await run({ id: edited.id, input: changes });
    if (!data?.updateApiKey) return;
    onClose();
    toast(`Changed ${data.updateApiKey.name}.`, () => restore(edited, changes));
  };
  return (
    <Dialog title={`Edit ${edited.name}`} onClose={onClose}>
      <p className="soft">
        {isOwn
          ? 'You are signed in with this key. This session also loses the rights that you remove.'
          : 'Changes apply from the next request. Open streams of a key that loses a right end.'}
      </p>
      <KeyForm
        edited={edited}
        action="Save"
        isBusy={isBusy}
        problem={problem}
        onSubmit={submit}
        onCancel={onClose}
      />
    </Dialog>
  );
}

/** Gives a key the values back that it had before a change. */
async function restore(key: ListedKey, changes: Partial<KeyDraft>): Promise<void> {
  const variables = { id: key.id, input: valuesOf(key, changes) };
  const { problem } = await mutate(UpdateKey, variables, ['ApiKey']);
  toast(problem ? problem.message : `Changed ${key.name} back.`);
}
