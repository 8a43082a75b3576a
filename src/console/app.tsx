import { type ReactNode, useState } from 'react';
import { Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import { Viewer } from '../generated/operations/console.ts';
import { Frame } from './frame/frame.tsx';
import { SignInAgain } from './frame/sign-in-again.tsx';
import { lazyPart } from './parts/lazy-part.tsx';
import { Failed } from './parts/state.tsx';
import { Bots } from './screens/bots/bots.tsx';
import { NotFound } from './screens/not-found.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { SignInByLink } from './screens/sign-in-by-link.tsx';
import { screens } from './screens.ts';
import { takeCode } from './server/code.ts';
import { useServerQuery } from './server/operations.ts';
import { COOKIES_BLOCKED, isSessionEnd, type Problem } from './server/problem.ts';
import { session } from './server/session.ts';
import { useStore } from './server/store.ts';
import { ViewerContext } from './server/viewer.ts';

const Deployments = lazyPart(screens.deployments);
const Guide = lazyPart(screens.guide);
const Settings = lazyPart(screens.settings);
const Playground = lazyPart(screens.playground);
const Compare = lazyPart(screens.compare);
const Run = lazyPart(screens.run);
const Runs = lazyPart(screens.runs);
const Sessions = lazyPart(screens.sessions);
const Start = lazyPart(screens.start);
const Studio = lazyPart(screens.studio);
const Parts = import.meta.env.DEV ? lazyPart(() => import('./screens/parts.tsx')) : NotFound;

/** Readable without a session. */
const GUIDE = '/guide/:page?';

const code = takeCode();

/** Asks whether to sign in if the address is a sign-in link, then shows the screen of the address. */
export function App() {
  const [, navigate] = useLocation();
  const [isAsking, setAsking] = useState(code !== undefined);
  const [problem, setProblem] = useState<Problem>();
  if (code === undefined || !isAsking) return <SignedIn problem={problem} />;
  const close = (failure?: Problem) => {
    setProblem(failure);
    setAsking(false);
    navigate('/bots', { replace: true });
  };
  return <SignInByLink code={code} onClose={close} />;
}

function SignedIn({ problem: linkProblem }: { problem: Problem | undefined }) {
  const state = useStore(session);
  const { data, problem, retry } = useServerQuery(Viewer, {});
  const [isPublic] = useRoute(GUIDE);
  // The last caller stays when the session ends, so that the open screen does.
  const [viewer, setViewer] = useState(data?.viewer);
  if (data && data.viewer !== viewer) setViewer(data.viewer);
  // Without a session the guide has other actions, which must not replace the shown ones.
  if (!viewer && isPublic && !problem) return null;
  if (!viewer && !isPublic) {
    if (problem && !isSessionEnd(problem))
      return (
        <main className="failed-page">
          <title>Parley</title>
          <h1 className="unseen">Parley</h1>
          <Failed problem={problem} onRetry={retry} />
        </main>
      );
    if (state === 'blocked') return <SignIn problem={COOKIES_BLOCKED} />;
    return state === 'none' ? <SignIn problem={linkProblem} /> : null;
  }
  return (
    <ViewerContext value={viewer}>
      <Frame>
        <Screens />
      </Frame>
      {viewer && (state === 'ended' || state === 'blocked') && (
        <SignInAgain accountId={viewer.account.id} />
      )}
    </ViewerContext>
  );
}

function Screens(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/bots" replace />
      </Route>
      <Route path="/sign-in">
        <Redirect to="/bots" replace />
      </Route>
      <Route path="/bots">
        <Bots />
      </Route>
      <Route path="/bots/new">
        <Start />
      </Route>
      <Route path="/bots/:id/start">{({ id }) => <Start key={id} botId={id} />}</Route>
      <Route path="/settings/*?">
        <Settings />
      </Route>
      <Route path="/bots/:id">
        {({ id }) => <Redirect to={`/bots/${id}/playground`} replace />}
      </Route>
      <Route path="/bots/:id/playground">{({ id }) => <Playground key={id} botId={id} />}</Route>
      <Route path="/bots/:id/runs">{({ id }) => <Runs key={id} botId={id} />}</Route>
      <Route path="/bots/:id/sessions">{({ id }) => <Sessions key={id} botId={id} />}</Route>
      <Route path="/runs/:id/compare/:other">
        {({ id, other }) => <Compare key={`${id} ${other}`} id={id} other={other} />}
      </Route>
      <Route path="/bots/:id/deployments/:opened?">
        {({ id, opened }) => <Deployments key={id} botId={id} {...(opened && { opened })} />}
      </Route>
      <Route path="/bots/:id/studio">{({ id }) => <Studio key={id} botId={id} />}</Route>
      <Route path="/runs/:id">{({ id }) => <Run key={id} id={id} />}</Route>
      <Route path={GUIDE}>{({ page }) => <Guide slug={page} />}</Route>
      <Route path="/console/parts">
        <Parts />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
