import { useSearchParams } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { ColumnMenu } from '../../frame/column-menu.tsx';
import { useEnvironment } from '../../frame/environments.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { IconButton } from '../../parts/button.tsx';
import { NoBot } from '../../parts/state.tsx';
import { isMissingBot } from '../../server/problem.ts';
import { useScope } from '../../server/viewer.ts';
import { columnChoice } from './columns.ts';
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
  const { chosen, environment } = useEnvironment();
  const go = (change: Partial<Place>, isReplaced = false) =>
    setSearch((before) => searchOf({ ...placeIn(before), ...change }, chosen), {
      replace: isReplaced,
    });
  return (
    <SessionsOf
      // Another environment has other sessions.
      key={environment}
      botId={botId}
      environment={environment}
      place={placeIn(search)}
      onPlace={go}
    />
  );
}

function SessionsOf({
  botId,
  environment,
  place,
  onPlace,
}: {
  botId: string;
  environment: Environment;
  place: Place;
  onPlace(change: Partial<Place>, isReplaced?: boolean): void;
}) {
  const { user } = place;
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
          <ColumnMenu choice={columnChoice} />
        </>
      }
    >
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
