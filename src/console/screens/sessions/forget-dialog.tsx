import { ForgetSession } from '../../../generated/operations/console.ts';
import type { SessionName } from '../../chat/use-stored-session.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { toast } from '../../parts/toast.tsx';
import { TypedConfirmation } from '../../parts/typed-confirmation.tsx';
import { useMutate } from '../../server/operations.ts';

/** Erases a session after its id is typed. */
export function ForgetDialog({
  name,
  onForgotten,
  onClose,
}: {
  name: SessionName;
  onForgotten(): void;
  onClose(): void;
}) {
  const { isBusy, problem, run } = useMutate(ForgetSession, ['Run']);
  const submit = async () => {
    const answer = await run(name);
    if (answer.problem) return;
    onClose();
    toast(answer.data.forgetSession ? 'Forgot the session.' : 'The session was already forgotten.');
    onForgotten();
  };
  return (
    <Dialog title="Forget everything of this session?" onClose={onClose}>
      <p>
        This deletes the conversation, the memory, and the texts of its runs. A reply that is
        running ends first. It cannot be undone.
      </p>
      <TypedConfirmation
        expected={[name.sessionId]}
        label={`Type ${name.sessionId} to confirm`}
        missing="Type the id of the session first."
        action="Forget everything"
        isBusy={isBusy}
        problem={problem}
        onSubmit={() => void submit()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
