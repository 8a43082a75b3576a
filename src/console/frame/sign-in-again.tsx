import { Viewer } from '../../generated/operations/console.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ask } from '../server/operations.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Asks for a key over the open screen, so that nothing typed is lost. Another account's key begins from the start. */
export function SignInAgain({ accountId }: { accountId: string }) {
  const checkAccount = async () => {
    const { data, problem } = await ask(Viewer, {});
    if (data && data.viewer.account.id !== accountId) location.assign('/');
    return problem;
  };
  return (
    <Dialog title="Your session has ended">
      <p className="soft">Sign in again to continue. Nothing that you typed is lost.</p>
      <SignInForm onSignedIn={checkAccount} />
    </Dialog>
  );
}
