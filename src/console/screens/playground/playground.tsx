import { useEffect, useEffectEvent, useState } from 'react';
import { Bot, type BotQuery } from '../../../generated/operations/console.ts';
import type { EnvironmentName } from '../../../vocabulary/environments.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { useEnvironment } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { Faults } from '../../parts/faults.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { RelativeTime } from '../../parts/time.tsx';
import { useServerQuery } from '../../server/operations.ts';
import './playground.css';
import { SCREENS } from '../../screens.ts';
import { PlaygroundChat } from './playground-chat.tsx';
import { useDraft } from './use-draft.ts';
import { newSessionId, useParameters } from './use-parameters.ts';

const CompareChat = lazyPart(() => import('./compare/compare-chat.tsx'), Loading);

/** A conversation with a bot, beside the requests, the trace and the code behind each reply. */
export default function Playground({ botId }: { botId: string }) {
  const { data, problem, retry } = useServerQuery(Bot, { id: botId });
  const [parameters, change] = useParameters();
  const draft = useDraft(parameters.context);
  const { environment } = useEnvironment();
  const { sessionId, isCompared, left, right, faults } = parameters;
  // The id of a session that this view began, which has no earlier messages.
  const [begun, setBegun] = useState<string>();
  const begin = (isStep: boolean) => {
    const id = newSessionId();
    setBegun(id);
    const none = { leftSession: undefined, rightSession: undefined, runId: undefined };
    change({ sessionId: id, ...none }, isStep);
  };
  const beginFirst = useEffectEvent(() => begin(false));
  useEffect(() => {
    if (!sessionId) beginFirst();
    // A session that was left may have messages when Back opens it again.
    else setBegun((now) => (now === sessionId ? now : undefined));
  }, [sessionId]);

  const bot = data?.bot;
  const chat = bot &&
    sessionId && {
      bot,
      sessionId,
      isNew: sessionId === begun,
      parameters,
      draft,
      onChange: change,
      onBegin: () => begin(true),
    };
  return (
    <Screen
      title={SCREENS.playground.title}
      actions={
        bot && (
          <>
            {!isCompared && <Deployed bot={bot} environment={toLowerCase(environment)} />}
            <Button
              look="quiet"
              aria-pressed={isCompared}
              onClick={() => change({ isCompared: !isCompared })}
            >
              Compare
            </Button>
          </>
        )
      }
    >
      <Faults
        faults={{ left: faults.left?.fault, right: faults.right?.fault }}
        effect="It is ignored."
      />
      {chat ? (
        isCompared ? (
          <CompareChat
            key={`${sessionId} ${JSON.stringify(left)} ${JSON.stringify(right)}`}
            {...chat}
          />
        ) : (
          <PlaygroundChat key={sessionId} {...chat} />
        )
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <Loading />
      )}
    </Screen>
  );
}

type ShownBot = NonNullable<BotQuery['bot']>;

function Deployed({ bot, environment }: { bot: ShownBot; environment: EnvironmentName }) {
  const deployment = bot[environment];
  return (
    <span className="chip playground-deployed">
      {deployment ? (
        <Badge tone={deployment.status === 'PENDING' ? 'live' : 'good'}>
          {deployment.status === 'PENDING' ? 'pending' : 'deployed'}{' '}
          <RelativeTime at={deployment.deployedAt ?? deployment.createdAt} />
        </Badge>
      ) : (
        <Badge tone="off">not deployed</Badge>
      )}
    </span>
  );
}

function Loading() {
  return (
    <div className="playground-loading" aria-busy="true">
      <Skeleton width="240px" />
      <Skeleton width="60%" height={72} />
    </div>
  );
}
