import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';
import type { ViewerQuery } from '../../generated/operations/console.ts';
import { Button } from '../parts/button.tsx';
import { Fact, Facts } from '../parts/facts.tsx';
import { Failed, Refused } from '../parts/state.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import { requestViewer } from '../server/first-request.ts';
import { AWAY, isSessionEnd, type Problem, problemFrom } from '../server/problem.ts';
import { type CodeOwner, inspectCode, signIn } from '../server/session.ts';
import type { Viewer } from '../server/viewer.ts';
import './sign-in.css';

/** Whom a link signs in, and whom the browser's present session belongs to. */
type Link = { owner: CodeOwner; viewer: Viewer | undefined };

/**
 * Asks before a link signs in: anyone can send a link to an account of theirs, to read what is entered there. Shows the
 * account of the link, and warns a browser that has a session.
 */
export function SignInByLink({
  code,
  onClose,
}: {
  code: string;
  /** Called after a sign-in or a refusal, and with the problem if the link does not work. */
  onClose(problem?: Problem): void;
}) {
  const [link, setLink] = useState<Link | { problem: Problem }>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  const load = async () => {
    const [owner, current] = await Promise.all([inspectCode(code), findCurrent()]);
    if ('problem' in owner && isSessionEnd(owner.problem)) onClose(owner.problem);
    else if ('problem' in owner) setLink(owner);
    else setLink('problem' in current ? current : { owner, ...current });
  };
  const loadFirst = useEffectEvent(load);
  useEffect(() => {
    void loadFirst();
  }, []);
  if (!link) return null;
  if ('problem' in link)
    return (
      <main className="failed-page">
        <title>Sign in · Parley</title>
        <h1 className="unseen">Parley</h1>
        <Failed problem={link.problem} onRetry={load} />
      </main>
    );
  const { owner, viewer: current } = link;
  const submit = async () => {
    setBusy(true);
    const refusal = await signIn({ code });
    setBusy(false);
    if (refusal) setProblem(refusal);
    else onClose();
  };
  const isSwitch = current !== undefined && current.account.id !== owner.account.id;
  return (
    <main className="sign-in">
      <title>Sign in · Parley</title>
      <div className="sign-in-card">
        <Wordmark />
        <h1>{isSwitch ? 'Switch to another account?' : 'Sign in by this link?'}</h1>
        <Refused problem={problem} />
        <Facts>
          <Fact name="Account">
            <strong>{owner.account.name}</strong>
            <span className="mono sign-in-id">{owner.account.id}</span>
          </Fact>
          <Fact name="API key">
            {owner.key.name}
            <span className="mono sign-in-id">{owner.key.prefix}…</span>
          </Fact>
        </Facts>
        {current && (
          <p className={isSwitch ? 'sign-in-warning' : 'soft'}>
            <Replaced current={current} owner={owner} isSwitch={isSwitch} />
          </p>
        )}
        <div className="sign-in-actions">
          <Button look={isSwitch ? 'danger' : 'primary'} isBusy={isBusy} onClick={submit}>
            {isSwitch ? 'Switch account' : 'Sign in'}
          </Button>
          <Button autoFocus onClick={() => onClose()}>
            {current ? 'Keep my session' : 'Cancel'}
          </Button>
        </div>
        <p className="sign-in-note">
          Continue only if you made this link yourself, with <code>parley open</code> or by starting
          the server. The person who made it can read what you enter in this account.
        </p>
      </div>
    </main>
  );
}

/** What becomes of the present session. */
function Replaced({
  current: { account, apiKey },
  owner,
  isSwitch,
}: {
  current: Viewer;
  owner: CodeOwner;
  isSwitch: boolean;
}): ReactNode {
  const key = (
    <>
      the key {apiKey.name} (<span className="mono">{apiKey.prefix}…</span>)
    </>
  );
  if (!isSwitch)
    return <>This browser is already signed in to this account, with {key}. This replaces it.</>;
  return (
    <>
      This browser is signed in to <strong>{account.name}</strong> with {key}. The switch ends that
      session, and what you enter then goes to <strong>{owner.account.name}</strong>.
    </>
  );
}

/** Finds the owner of the browser's session, past the cache: the next session may be of another account. */
async function findCurrent(): Promise<Pick<Link, 'viewer'> | { problem: Problem }> {
  try {
    const response = await requestViewer();
    const { data }: { data?: ViewerQuery | null } = await response.clone().json();
    if (data) return { viewer: data.viewer };
    const problem = await problemFrom(response);
    return isSessionEnd(problem) ? { viewer: undefined } : { problem };
  } catch {
    return { problem: AWAY };
  }
}
