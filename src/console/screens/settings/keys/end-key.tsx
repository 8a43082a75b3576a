import { useState } from 'react';
import { RevokeKey, RotateKey, Viewer } from '../../../../generated/operations/console.ts';
import { Choice } from '../../../parts/choices.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogForm } from '../../../parts/dialog-form.tsx';
import { SelectField } from '../../../parts/field.tsx';
import { toast } from '../../../parts/toast.tsx';
import { ask, useMutate } from '../../../server/operations.ts';
import { signIn } from '../../../server/session.ts';
import { useViewer } from '../../../server/viewer.ts';
import type { Issued } from '../secret.tsx';
import { createdBy, type ListedKey } from './key.ts';

/**
 * Replaces a key by a new one. If it is the key of this session, the session continues with the new key.
 *
 * @param onIssued receives the new secret. The list must be read again after that.
 */
export function RotateKeyDialog({
  rotated,
  onIssued,
  onClose,
}: {
  rotated: ListedKey;
  onIssued(issued: Issued): void;
  onClose(): void;
}) {
  const [overlapHours, setOverlapHours] = useState(1);
  const { isBusy, problem, run } = useMutate(RotateKey);
  const isOwn = useViewer().apiKey.id === rotated.id;
  const submit = async () => {
    const { data } = await run({ id: rotated.id, overlapHours });
    if (!data?.rotateApiKey) return;
    const { secret } = data.rotateApiKey;
    const title = `New secret of ${rotated.name}`;
    if (!isOwn) return onIssued({ title, secret });
    const refusal = await signIn({ key: secret });
    const note = refusal ? undefined : 'This session continues with the new key.';
    onIssued({ title, secret, note, problem: refusal });
    if (!refusal) await ask(Viewer, {});
  };
  return (
    <Dialog title={`Rotate ${rotated.name}`} onClose={onClose}>
      <p className="soft">
        A new key takes its place, with the same name, scopes, bots and expiry.
        {isOwn && ' You are signed in with this key; the session continues with the new one.'}
      </p>
      <DialogForm
        action="Rotate key"
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      >
        <SelectField
          label="The old key stays valid"
          hint="Time to replace the old key everywhere."
          value={overlapHours}
          onChange={({ target }) => setOverlapHours(Number(target.value))}
        >
          <option value={1}>for 1 hour</option>
          <option value={24}>for 24 hours</option>
          <option value={0}>not at all: revoke it at once</option>
        </SelectField>
      </DialogForm>
    </Dialog>
  );
}

/** Revokes a key for good, and on demand the keys that it created. */
export function RevokeKeyDialog({
  revoked,
  keys,
  onClose,
}: {
  revoked: ListedKey;
  keys: ListedKey[];
  onClose(): void;
}) {
  const [withCreated, setWithCreated] = useState(false);
  const { isBusy, problem, run } = useMutate(RevokeKey, ['ApiKey']);
  const isOwn = useViewer().apiKey.id === revoked.id;
  const created = createdBy(revoked, keys);
  const submit = async () => {
    const { data } = await run({ id: revoked.id, withCreated });
    if (!data?.revokeApiKey) return;
    onClose();
    toast(`Revoked ${revoked.name}.`);
  };
  return (
    <Dialog title={`Revoke ${revoked.name}?`} onClose={onClose}>
      {isOwn && (
        <p className="refused" role="note">
          You are signed in with this key. Revoking it ends this session.
        </p>
      )}
      <p>
        From now on every request with this key is refused, and its open streams end. It cannot be
        undone.
      </p>
      {created.length > 0 && (
        <Choice
          label={`Also revoke the ${created.length === 1 ? 'key' : `${created.length} keys`} that it created`}
          hint={created.map(({ name }) => name).join(', ')}
          isChosen={withCreated}
          onChange={setWithCreated}
        />
      )}
      <DialogForm
        action="Revoke key"
        isDanger
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
