import { SignInForm } from '../frame/sign-in-form.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import type { Problem } from '../server/problem.ts';
import './sign-in.css';

/** The page of a browser without a session. */
export function SignIn({ problem }: { problem: Problem | undefined }) {
  return (
    <main className="sign-in">
      <title>Sign in · Parley</title>
      <div className="sign-in-card">
        <Wordmark />
        <h1>Sign in to your gateway</h1>
        <SignInForm problem={problem} />
        <p className="sign-in-note">
          The key is exchanged for a session and is not kept in this browser. The first start of
          Parley printed a key and a sign-in link in its terminal.
        </p>
      </div>
    </main>
  );
}
