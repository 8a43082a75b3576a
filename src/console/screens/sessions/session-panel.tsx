import type { ReactNode } from 'react';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { WaitingCalls } from '../../approvals/waiting-calls.tsx';
import { Conversation } from '../../chat/conversation.tsx';
import { EarlierTurns } from '../../chat/earlier-turns.tsx';
import { isSessionId, SESSION_ID_RULE } from '../../chat/session-id.ts';
import {
  type SessionName,
  type StoredSession,
  useStoredSession,
} from '../../chat/use-stored-session.ts';
import { useEnvironment } from '../../frame/environments.ts';
import { ButtonLink } from '../../parts/button.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Failed, Skeleton } from '../../parts/state.tsx';
import { useSessionRuns } from '../../runs/use-session-runs.ts';
import { type Place, runsAddress, sessionsAddress } from './place.ts';
import { SessionHead } from './session-head.tsx';
import { SessionMemory } from './session-memory.tsx';

type PanelProps = {
  name: SessionName;
  tab: Place['tab'];
  onPlace(change: Partial<Place>, isReplaced?: boolean): void;
  onForgotten(): void;
};

/** A session: its conversation and its memory. */
export function SessionPanel(props: PanelProps) {
  const { name } = props;
  return (
    <section className="session-panel" aria-label="Open session">
      {isSessionId(name.sessionId) ? <ReadSession {...props} /> : <NoId name={name} />}
    </section>
  );
}

function ReadSession({ name, tab, onPlace, onForgotten }: PanelProps) {
  const stored = useStoredSession(name);
  const { session, facts, problem, readNew, readFacts } = stored;
  const active = useSessionRuns(name, readNew);
  if (session === null) return <NoSession name={name} />;
  return (
    <>
      <SessionHead name={name} session={session} active={active} onForgotten={onForgotten} />
      {session ? (
        <div className="session-body" data-tab={tab}>
          <div className="session-tabs">
            <Segments<Place['tab']>
              label="Part of the session"
              options={[
                { name: 'conversation', label: 'Conversation' },
                { name: 'memory', label: `Memory (${facts.length})` },
              ]}
              current={tab}
              onChange={(part) => onPlace({ tab: part }, true)}
            />
          </div>
          <Turns stored={stored} name={name} />
          <SessionMemory name={name} facts={facts} onChange={readFacts} />
        </div>
      ) : problem ? (
        <Failed problem={problem} onRetry={readNew} />
      ) : (
        <Loading />
      )}
    </>
  );
}

function Turns({ stored, name }: { stored: StoredSession; name: SessionName }) {
  return (
    <Conversation
      turns={stored.turns}
      label={`Conversation with ${name.sessionId}`}
      user="User"
      top={<EarlierTurns stored={stored} />}
      bottom={<WaitingCalls session={name} />}
    >
      {!stored.problem && (
        <Empty title="No messages are stored">
          <p>A message is stored with its reply. The message of a failed run is not stored.</p>
          <ButtonLink href={runsAddress(name)}>Show the runs</ButtonLink>
        </Empty>
      )}
    </Conversation>
  );
}

function NoId({ name }: { name: SessionName }) {
  return (
    <NotThere name={name} title="This is not a session id">
      <p>{SESSION_ID_RULE}</p>
    </NotThere>
  );
}

function NoSession({ name }: { name: SessionName }) {
  const { botId, environment, sessionId } = name;
  const other = environment === 'STAGING' ? 'PRODUCTION' : 'STAGING';
  return (
    <NotThere name={name} title={`No such session in ${toLowerCase(environment)}`}>
      <p className="mono session-missing">{sessionId}</p>
      {sessionId.includes('\uFFFD') ? (
        <p>
          The character � replaces bytes that are not text, so the copied id is incomplete. Copy it
          again.
        </p>
      ) : (
        <p>
          An id matches in every character, upper and lower case too. The session may also have been
          forgotten.
        </p>
      )}
      <ButtonLink href={sessionsAddress(botId, { environment: other, user: sessionId })}>
        Look in {toLowerCase(other)}
      </ButtonLink>
    </NotThere>
  );
}

function NotThere({
  name: { botId },
  title,
  children,
}: {
  name: SessionName;
  title: string;
  children: ReactNode;
}) {
  const { chosen } = useEnvironment();
  return (
    <Empty title={title}>
      {children}
      <ButtonLink look="quiet" href={sessionsAddress(botId, { environment: chosen })}>
        Show all sessions
      </ButtonLink>
    </Empty>
  );
}

function Loading() {
  return (
    <div className="session-loading" aria-busy="true">
      <Skeleton width="45%" height={36} />
      <Skeleton width="80%" height={72} />
      <Skeleton width="35%" height={36} />
    </div>
  );
}
