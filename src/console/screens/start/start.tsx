import { useState } from 'react';
import { useLocation } from 'wouter';
import { Bot, type Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { Screen } from '../../frame/screen.tsx';
import { Id } from '../../parts/copy.tsx';
import { Failed, Skeleton } from '../../parts/state.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { CreateStep } from './create-step.tsx';
import { DeployStep } from './deploy-step.tsx';
import './start.css';
import { SCREENS } from '../../screens.ts';
import { ChatStep } from './chat-step.tsx';

/** Leads from nothing to a conversation: name the bot, deploy a definition, talk to it. */
export default function Start({ botId }: { botId?: string }) {
  const [, navigate] = useLocation();
  if (botId) return <WithBot botId={botId} />;
  return (
    <Screen title={SCREENS.newBot.title}>
      <ol className="steps">
        <Step number={1} title="Name your bot" state="current">
          <CreateStep onCreated={(id) => navigate(`/bots/${id}/start`, { replace: true })} />
        </Step>
        <Step number={2} title="Give it a definition" state="ahead" />
        <Step number={3} title="Talk to it" state="ahead" />
      </ol>
    </Screen>
  );
}

function WithBot({ botId }: { botId: string }) {
  const { data, problem, retry } = useServerQuery(Bot, { id: botId });
  const [isChanging, setChanging] = useState(false);
  const [chosen, setChosen] = useState<Environment>();
  const bot = data?.bot;
  if (!bot) {
    return (
      <Screen title={SCREENS.start.title}>
        {problem ? <Failed problem={problem} onRetry={retry} /> : <Skeletons />}
      </Screen>
    );
  }
  const environment = chosen ?? (bot.production || !bot.staging ? 'PRODUCTION' : 'STAGING');
  const running = environment === 'PRODUCTION' ? bot.production : bot.staging;
  const isDeployed = running !== null;
  const isDefining = !isDeployed || isChanging;
  return (
    <Screen title={bot.name}>
      <ol className="steps">
        <Step number={1} title={bot.name} state="done" note={<Id>{bot.id}</Id>} />
        <Step
          number={2}
          title={isDeployed ? `Deployed to ${toLowerCase(environment)}` : 'Give it a definition'}
          state={isDefining ? 'current' : 'done'}
          note={
            !isDefining && (
              <button type="button" className="step-change" onClick={() => setChanging(true)}>
                Change
              </button>
            )
          }
        >
          {isDefining && (
            <DeployStep
              botId={bot.id}
              environment={environment}
              onEnvironment={(next) => {
                setChosen(next);
                // The step stays open where something runs already.
                setChanging(true);
              }}
              onDeployed={() => setChanging(false)}
            />
          )}
        </Step>
        <Step number={3} title="Talk to it" state={isDefining ? 'ahead' : 'current'}>
          {!isDefining && <ChatStep key={running?.id} botId={bot.id} environment={environment} />}
        </Step>
      </ol>
    </Screen>
  );
}

function Step({
  number,
  title,
  state,
  note,
  children,
}: {
  number: number;
  title: string;
  state: 'done' | 'current' | 'ahead';
  note?: React.ReactNode;
  children?: React.ReactNode;
}) {
  return (
    <li className={`step step-${state}`} aria-current={state === 'current' ? 'step' : undefined}>
      <span className="step-number" aria-hidden="true">
        {state === 'done' ? '✓' : number}
      </span>
      <div className="step-body">
        <div className="step-head">
          <h2>{title}</h2>
          {note}
        </div>
        {children}
      </div>
    </li>
  );
}

function Skeletons() {
  return (
    <div className="steps" aria-busy="true">
      <Skeleton width="200px" />
      <Skeleton width="320px" height={120} />
    </div>
  );
}
