import { type ReactNode, useState } from 'react';
import { Redirect, Route, Switch, useLocation, useRoute } from 'wouter';
import { Viewer } from '../generated/operations/console.ts';
import { Frame } from './frame/frame.tsx';
import { SignInAgain } from './frame/sign-in-again.tsx';
import { lazyPart } from './parts/lazy-part.tsx';
import { Failed } from './parts/state.tsx';
import { addressOf, REDIRECTS } from './screen-addresses.ts';
import { screenCode } from './screen-code.ts';
import { Bots } from './screens/bots/bots.tsx';
import { NotFound } from './screens/not-found.tsx';
import { SignIn } from './screens/sign-in.tsx';
import { SignInByLink } from './screens/sign-in-by-link.tsx';
import { SCREENS } from './screens.ts';
import { takeCode } from './server/code.ts';
import { useServerQuery } from './server/operations.ts';
import { COOKIES_BLOCKED, isSessionEnd, type Problem } from './server/problem.ts';
import { session } from './server/session.ts';
import { useStore } from './server/store.ts';
import { ViewerContext } from './server/viewer.ts';

const Approvals = lazyPart(screenCode.approvals);
const ChatPage = lazyPart(screenCode.chatPage);
const Deployments = lazyPart(screenCode.deployments);
const DeploymentComparison = lazyPart(screenCode.deploymentComparison);
const Evaluations = lazyPart(screenCode.evaluations);
const Home = lazyPart(screenCode.home);
const Guide = lazyPart(screenCode.guide);
const Settings = lazyPart(screenCode.settings);
const Playground = lazyPart(screenCode.playground);
const Compare = lazyPart(screenCode.compare);
const Run = lazyPart(screenCode.run);
const Runs = lazyPart(screenCode.runs);
const Sessions = lazyPart(screenCode.sessions);
const Start = lazyPart(screenCode.start);
const Studio = lazyPart(screenCode.studio);
const Parts = import.meta.env.DEV ? lazyPart(() => import('./screens/parts.tsx')) : NotFound;

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
  // The guide needs no session.
  const [isPublic] = useRoute(SCREENS.guide.path);
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
      <Route path={SCREENS.bots.path}>
        <Bots />
      </Route>
      <Route path={SCREENS.newBot.path}>
        <Start />
      </Route>
      <Route path={SCREENS.home.path}>{({ botId }) => <Home key={botId} botId={botId} />}</Route>
      <Route path={SCREENS.start.path}>{({ botId }) => <Start key={botId} botId={botId} />}</Route>
      <Route path={SCREENS.playground.path}>
        {({ botId }) => <Playground key={botId} botId={botId} />}
      </Route>
      <Route path={SCREENS.runs.path}>{({ botId }) => <Runs key={botId} botId={botId} />}</Route>
      <Route path={SCREENS.run.path}>{({ id }) => <Run key={id} id={id} />}</Route>
      <Route path={SCREENS.compare.path}>
        {({ id, other }) => <Compare key={`${id} ${other}`} id={id} other={other} />}
      </Route>
      <Route path={SCREENS.sessions.path}>
        {({ botId }) => <Sessions key={botId} botId={botId} />}
      </Route>
      <Route path={SCREENS.approvals.path}>
        {({ botId, opened }) => <Approvals key={botId} botId={botId} opened={opened} />}
      </Route>
      <Route path={SCREENS.deploy.path}>
        {({ botId }) => <Deployments key={botId} botId={botId} opened="new" />}
      </Route>
      <Route path={SCREENS.deployments.path}>
        {({ botId, opened }) => <Deployments key={botId} botId={botId} opened={opened} />}
      </Route>
      <Route path={SCREENS.deploymentComparison.path}>
        {({ botId, id, other }) => (
          <DeploymentComparison key={`${id} ${other}`} botId={botId} id={id} other={other} />
        )}
      </Route>
      <Route path={SCREENS.evaluations.path}>
        {({ botId }) => <Evaluations key={botId} botId={botId} />}
      </Route>
      <Route path={SCREENS.evaluation.path}>
        {({ botId, id }) => <Evaluations key={`${botId} ${id}`} botId={botId} opened={id} />}
      </Route>
      <Route path={SCREENS.chatPage.path}>
        {({ botId }) => <ChatPage key={botId} botId={botId} />}
      </Route>
      <Route path={SCREENS.studio.path}>
        {({ botId }) => <Studio key={botId} botId={botId} />}
      </Route>
      <Route path={SCREENS.settings.path}>
        <Settings />
      </Route>
      <Route path={SCREENS.guide.path}>{({ slug }) => <Guide slug={slug} />}</Route>
      {REDIRECTS.map(([path, to]) => (
        <Route<{ botId?: string }> key={path} path={path}>
          {({ botId }) => <Redirect to={addressOf(to, botId)} replace />}
        </Route>
      ))}
      <Route path="/console/parts">
        <Parts />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
