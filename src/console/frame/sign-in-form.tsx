import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { TextField } from '../parts/field.tsx';
import { Refused } from '../parts/state.tsx';
import { COOKIES_BLOCKED, type Problem } from '../server/problem.ts';
import { session, signIn } from '../server/session.ts';

/** Exchanges a pasted key for a session. */
export function SignInForm({
  problem: first,
  onSignedIn,
}: {
  problem?: Problem | undefined;
  /** Sends the first request with the session, and returns its problem; by default the screen below sends it. */
  onSignedIn?: () => Promise<Problem | undefined>;
}) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState(first);
  const [isBusy, setBusy] = useState(false);
  const submit = async () => {
    setBusy(true);
    const refusal = await signIn({ key: key.trim() });
    setBusy(false);
    setProblem(refusal);
    if (refusal) return;
    if (onSignedIn) setProblem(await onSignedIn());
    else session.set('open');
    // Without an answer that proves the session, the key stays for another attempt.
    if (session.get() !== 'ended') setKey('');
    if (session.get() === 'blocked') setProblem(COOKIES_BLOCKED);
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isBusy) void submit();
      }}
    >
      <Refused problem={problem} />
      <TextField
        label="API key"
        type="password"
        name="key"
        isMono
        autoFocus
        required
        placeholder="parley_sk_…"
        value={key}
        onChange={({ target }) => setKey(target.value)}
      />
      <Button type="submit" look="primary" isBusy={isBusy}>
        Sign in
      </Button>
    </form>
  );
}
