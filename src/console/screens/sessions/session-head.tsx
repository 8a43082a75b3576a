import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { SessionName, StoredSession } from '../../chat/use-stored-session.ts';
import { environmentParameter, useEnvironment } from '../../frame/environments.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import { ForgetDialog } from './forget-dialog.tsx';
import { runsAddress, sessionsAddress } from './place.ts';
import { turnsText } from './session-list.tsx';

/** The id of a session, its figures, and its actions. */
export function SessionHead({
  name,
  session,
  active,
  onForgotten,
}: {
  name: SessionName;
  session: StoredSession['session'];
  /** The id of a run that is active. */
  active: string | undefined;
  onForgotten(): void;
}) {
  const { botId, environment, sessionId } = name;
  const { chosen } = useEnvironment();
  const [, navigate] = useLocation();
  const [isForgetting, setForgetting] = useState(false);
  const mayChat = useScope('CHAT');
  const refusal = !mayChat && lacks('CHAT');
  const playground = new URLSearchParams({
    session_id: sessionId,
    ...environmentParameter(environment),
  });
  const link = () =>
    new URL(sessionsAddress(botId, { environment, user: sessionId }), location.origin);
  return (
    <header className="session-head">
      <Link className="session-back" href={sessionsAddress(botId, { environment: chosen })}>
        All sessions
      </Link>
      <div className="session-title">
        <h2 className="mono cut" dir="auto" title={sessionId}>
          {sessionId}
        </h2>
        <CopyButton label="Copy the session id" text={sessionId} />
      </div>
      <p className="session-figures number">
        {session ? (
          <>
            {turnsText(session.turns)} · <RelativeTime at={session.lastSeenAt} />
          </>
        ) : (
          <Skeleton width="110px" />
        )}
      </p>
      {active && (
        <Link className="session-active" href={`/runs/${active}`}>
          <Badge tone="live">a reply is running</Badge>
        </Link>
      )}
      <div className="session-actions">
        {mayChat ? (
          <ButtonLink icon="chat" href={`/bots/${botId}/playground?${playground}`}>
            Continue in the playground
          </ButtonLink>
        ) : (
          <Button icon="chat" unavailable={refusal}>
            Continue in the playground
          </Button>
        )}
        <Menu label="Actions for the session" button={<Icon name="dots" />}>
          <MenuItem onSelect={() => navigate(runsAddress(name))}>All runs of the user</MenuItem>
          <MenuItem onSelect={() => void navigator.clipboard.writeText(link().href)}>
            Copy link
          </MenuItem>
          <hr />
          <MenuItem isDanger unavailable={refusal} onSelect={() => setForgetting(true)}>
            Forget everything…
          </MenuItem>
        </Menu>
      </div>
      {isForgetting && (
        <ForgetDialog name={name} onForgotten={onForgotten} onClose={() => setForgetting(false)} />
      )}
    </header>
  );
}
