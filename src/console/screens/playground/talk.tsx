import { useMemo, useRef, useState } from 'react';
import type { BotQuery } from '../../../operations/console/operations.ts';
import type { Turn } from '../../chat/turn.ts';
import type { TurnActions } from '../../chat/turn-view.tsx';
import { useChat } from '../../chat/use-chat.ts';
import { useStoredSession } from '../../chat/use-stored-session.ts';
import type { Call } from '../../server/call.ts';
import { restKey } from '../../server/rest-key.ts';
import { useStore } from '../../server/store.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { Half } from './half.ts';
import { Inspector } from './inspector/inspector.tsx';
import { keyFault } from './option-fields.tsx';
import { RequestComposer } from './request-composer.tsx';
import { SessionBar } from './session-bar.tsx';
import { Side } from './side.tsx';
import type { Draft } from './use-draft.ts';
import type { EnvironmentName, Parameters } from './use-parameters.ts';

type ShownBot = NonNullable<BotQuery['bot']>;

/** The conversation of one session, with one environment or with both. */
export function Talk({
  bot,
  sessionId,
  isNew,
  parameters,
  draft,
  onChange,
  onBegin,
}: {
  bot: ShownBot;
  sessionId: string;
  isNew: boolean;
  parameters: Parameters;
  draft: Draft;
  onChange(changes: Partial<Parameters>): void;
  onBegin(): void;
}) {
  const { environment, isCompared, isStreamed, onBusy, tab } = parameters;
  const isShown = (name: EnvironmentName) => isCompared || environment === name;
  const session = { botId: bot.id, sessionId };
  const halves: Half[] = [
    {
      environment: 'PRODUCTION',
      label: 'Production',
      isDeployed: bot.production !== null,
      chat: useChat(),
      earlier: useStoredSession(
        { ...session, environment: 'PRODUCTION' },
        isNew || !isShown('PRODUCTION'),
      ),
    },
    {
      environment: 'STAGING',
      label: 'Staging',
      isDeployed: bot.staging !== null,
      chat: useChat(),
      earlier: useStoredSession(
        { ...session, environment: 'STAGING' },
        isNew || !isShown('STAGING'),
      ),
    },
  ];
  const shown = halves.filter((half) => isShown(half.environment));
  const input = useRef<HTMLTextAreaElement>(null);
  const [chosen, setChosen] = useState<{ environment: EnvironmentName; id: string }>();
  const unavailable = useUnavailable(shown, draft);

  const callOf = (message: string, { value } = draft.reading): Omit<Call, 'environment'> => ({
    ...session,
    message,
    protocol: draft.protocol,
    isStreamed,
    context: value,
    onBusy: onBusy === 'REJECT' ? onBusy : undefined,
    idempotencyKey: draft.idempotencyKey || undefined,
  });
  const sendAll = async (message: string, to: Half[]) => {
    setChosen(undefined);
    const call = callOf(message, draft.readNow());
    const refusals = await Promise.all(
      to.map((half) => half.chat.send({ ...call, environment: half.environment })),
    );
    return refusals.some(Boolean);
  };
  const send = async () => {
    const { message } = draft;
    if (draft.readNow().fault) return;
    draft.change({ message: '' });
    // The session had ended before the message was sent, so it stays in the field.
    if (await sendAll(message, shown)) draft.change({ message });
  };
  const actionsOf = useTurnActions({
    inspect: (half, turn) => {
      setChosen({ environment: half, id: turn.id });
      onChange({ tab: tab ?? 'request' });
    },
    edit: ({ message }) => {
      draft.change({ message });
      input.current?.focus();
    },
    repeat: (half, { message, call }) => {
      const to = halves.find(({ environment: name }) => name === half);
      if (!to || to.chat.isBusy) return;
      setChosen(undefined);
      void to.chat.send(call ?? { ...callOf(message), environment: half });
    },
  });

  const side = shown.find((half) => half.environment === chosen?.environment) ?? shown[0];
  const turns = side ? [...side.earlier.turns, ...side.chat.turns] : [];
  const turn = turns.find(({ id }) => id === chosen?.id) ?? side?.chat.turns.at(-1);
  const example: Call = {
    ...callOf(draft.message || 'Hello!'),
    environment: side?.environment ?? environment,
  };
  return (
    <div className={`playground${isCompared ? ' playground-compared' : ''}`} data-tab={tab}>
      <div className="playground-talk">
        <SessionBar
          sessionId={sessionId}
          facts={side?.earlier.facts ?? []}
          onChange={(id) => onChange({ sessionId: id })}
          onBegin={onBegin}
        />
        <div className="playground-sides">
          {shown.map((half) => (
            <Side
              key={half.environment}
              botId={bot.id}
              half={half}
              hasTitle={isCompared}
              actions={actionsOf[half.environment]}
              inspected={tab && half === side ? turn?.id : undefined}
            />
          ))}
        </div>
        <div className="playground-composer">
          <RequestComposer
            bot={bot}
            deploymentId={(side?.environment === 'STAGING' ? bot.staging : bot.production)?.id}
            input={input}
            draft={draft}
            parameters={parameters}
            onChange={onChange}
            isBusy={shown.some(({ chat }) => chat.isBusy)}
            unavailable={unavailable}
            onSend={() => void send()}
            onStop={() => {
              for (const { chat } of shown) if (chat.isBusy) void chat.stop();
            }}
          />
        </div>
      </div>
      <Inspector
        turn={turn}
        example={example}
        sides={isCompared ? shown : []}
        side={side?.environment}
        onSide={(name) => {
          const half = shown.find((one) => one.environment === name);
          const last = half?.chat.turns.at(-1);
          setChosen({ environment: name, id: last?.id ?? '' });
        }}
        tab={tab}
        onTab={(name) => onChange({ tab: name })}
      />
    </div>
  );
}

/** Why no message can be sent. */
function useUnavailable(
  shown: Half[],
  { protocol, reading, idempotencyKey }: Draft,
): string | undefined {
  const mayChat = useScope('CHAT');
  const key = useStore(restKey);
  const missing = shown.find(({ isDeployed }) => !isDeployed);
  if (protocol === 'graphql' && !mayChat) return lacks('CHAT');
  if (protocol === 'rest' && !key) return 'REST needs an API key: type one, or create one.';
  if (missing) return `Nothing is deployed to ${missing.label.toLowerCase()}.`;
  return reading.fault ? 'Correct the context first.' : keyFault(idempotencyKey);
}

/** The same actions as long as the view is open, for both environments. */
function useTurnActions(actions: {
  inspect(environment: EnvironmentName, turn: Turn): void;
  edit(turn: Turn): void;
  repeat(environment: EnvironmentName, turn: Turn): void;
}): Record<EnvironmentName, TurnActions> {
  const latest = useRef(actions);
  latest.current = actions;
  return useMemo(() => {
    const of = (environment: EnvironmentName): TurnActions => ({
      inspect: (turn) => latest.current.inspect(environment, turn),
      edit: (turn) => latest.current.edit(turn),
      repeat: (turn) => latest.current.repeat(environment, turn),
    });
    return { PRODUCTION: of('PRODUCTION'), STAGING: of('STAGING') };
  }, []);
}
