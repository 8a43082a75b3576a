import { useSearchParams } from 'wouter';
import { ENVIRONMENT_OPTIONS, environmentIn } from '../../frame/environments.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { IconButton } from '../../parts/button.tsx';
import { Faults } from '../../parts/faults.tsx';
import { Segments } from '../../parts/segments.tsx';
import { NoBot } from '../../parts/state.tsx';
import { isMissingBot } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';
import { type Place, placeIn, searchOf } from './place.ts';
import { SessionList } from './session-list.tsx';
import { SessionPanel } from './session-panel.tsx';
// The layout of narrow windows follows.
import './session-list.css';
import './sessions.css';
import { SCREENS } from '../../screens.ts';
import { useSessions } from './use-sessions.ts';

/** The sessions of a bot, and the open one beside them. The address holds both. */
export default function Sessions({ botId }: { botId: string }) {
  const mayRead = useScope('RUNS');
  if (!mayRead)
    return (
      <LackingScope
        title={SCREENS.sessions.title}
        scope="RUNS"
        reason="Sessions hold what users wrote."
      />
    );
  return <ReadSessions botId={botId} />;
}

function ReadSessions({ botId }: { botId: string }) {
  const [search, setSearch] = useSearchParams();
  const place = placeIn(search);
  const { environment, user } = place;
  const { fault } = environmentIn(search);
  const go = (change: Partial<Place>, isReplaced = false) =>
    setSearch((before) => searchOf({ ...placeIn(before), ...change }), { replace: isReplaced });
  return (
    <SessionsOf
      // Another environment has other sessions.
      key={environment}
      botId={botId}
      place={place}
      actions={
        <Segments
          label="Environment"
          options={ENVIRONMENT_OPTIONS}
          current={environment}
          isWrong={fault !== undefined}
          onChange={(name) => go({ environment: name, user })}
        />
      }
      fault={fault}
      onPlace={go}
    />
  );
}

function SessionsOf({
  botId,
  place,
  actions,
  fault,
  onPlace,
}: {
  botId: string;
  place: Place;
  actions: React.ReactNode;
  /** The problem of the environment in the address. */
  fault: string | undefined;
  onPlace(change: Partial<Place>, isReplaced?: boolean): void;
}) {
  const { environment, user } = place;
  const pages = useSessions(botId, environment);
  if (pages.problem && isMissingBot(pages.problem))
    return (
      <Screen title={SCREENS.sessions.title}>
        <NoBot />
      </Screen>
    );
  return (
    <Screen
      title={SCREENS.sessions.title}
      actions={
        <>
          <IconButton label="Read the list again" icon="repeat" onClick={pages.readAgain} />
          {actions}
        </>
      }
    >
      <Faults faults={{ environment: fault }} effect="Production is selected." />
      <div className={user ? 'sessions sessions-open' : 'sessions'}>
        <SessionList botId={botId} place={place} pages={pages} onPlace={onPlace} />
        {user && (
          <SessionPanel
            key={user}
            name={{ botId, environment, sessionId: user }}
            tab={place.tab}
            onPlace={onPlace}
            onForgotten={() => {
              onPlace({ user: undefined, tab: 'conversation' }, true);
              pages.readAgain();
            }}
          />
        )}
      </div>
    </Screen>
  );
}
