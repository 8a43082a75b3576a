import { toast } from '../parts/toast.tsx';
import { signOut } from '../server/session.ts';

/** Signs out and shows the sign-in screen. */
export async function endSession(): Promise<void> {
  const problem = await signOut();
  if (problem) toast(problem.message);
  else location.assign('/');
}
