import { useMemo, useRef, useState } from 'react';
import type { BotQuery } from '../../../generated/operations/console.ts';
import type { Environment } from '../../../vocabulary/environments.ts';
import type { Turn } from '../../chat/turn.ts';
import type { TurnActions } from '../../chat/turn-view.tsx';
import { useChat } from '../../chat/use-chat.ts';
import { useStoredSession } from '../../chat/use-stored-session.ts';
import type { ChangeAddress } from '../../frame/use-address.ts';
import type { Call } from '../../server/call.ts';
import { useRestKey } from '../../server/rest-key.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { ContextReading } from './context-json.ts';
import type { Half } from './half.ts';
import { keyFault, keyOf } from './idempotency-key.ts';
import { Inspector } from './inspector/inspector.tsx';
import { RequestComposer } from './request-composer.tsx';
import { SessionBar } from './session-bar.tsx';
import { Side } from './side.tsx';
import type { Draft } from './use-draft.ts';
import type { Parameters } from './use-parameters.ts';

type ShownBot = NonNullable<BotQuery['bot']>;

/** The conversation of one session, with one environment or with both. */
export function PlaygroundChat({
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
  onChange: ChangeAddress<Parameters>;
  onBegin(): void;
}) {
  const { environment, isCompared, isStreamed, onBusy, tab, runId } = parameters;
  const isShown = (name: Environment) => isCompared || environment === name;
  const session = { botId: bot.id, sessionId };
  const halves: Half[] = [
    {
      environment: 'PRODUCTION',
      label: 'Production',
      isDeployed: bot.production !== null,
      deploymentId: bot.production?.id,
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
      deploymentId: bot.staging?.id,
      chat: useChat(),
      earlier: useStoredSession(
        { ...session, environment: 'STAGING' },
        isNew || !isShown('STAGING'),
      ),
    },
  ];
  const shown = halves.filter((half) => isShown(half.environment));
  const input = useRef<HTMLTextAreaElement>(null);
  const [chosen, setChosen] = useState<{ environment: Environment; id: string }>();
  const whyNot = useWhyNot(bot.id);
  const unavailable =
    whyNot(draft.protocol, shown, draft.reading) ?? keyFault(draft.idempotencyKey, isCompared);
  const cannotRepeat = (half: Half, { call }: Turn, reading = draft.reading) =>
    // The request of a turn of this visit has a context of its own.
    whyNot((call ?? draft).protocol, [half], call ? {} : reading) ??
    (half.chat.isBusy ? 'Wait for the end of the reply.' : undefined);

  const callOf = (
    message: string,
    name: Environment,
    { value }: ContextReading = draft.reading,
  ): Call => ({
    ...session,
    message,
    environment: name,
    protocol: draft.protocol,
    isStreamed,
    context: value,
    onBusy: onBusy === 'REJECT' ? onBusy : undefined,
    idempotencyKey: keyOf(draft.idempotencyKey, name, isCompared),
  });
  const choose = (name?: Environment, turn?: Turn, changes?: Partial<Parameters>) => {
    setChosen(name && { environment: name, id: turn?.id ?? '' });
    onChange({ ...changes, runId: turn?.runId });
  };
  const sendAll = async (message: string, to: Half[]) => {
    choose();
    const reading = draft.readNow();
    const refusals = await Promise.all(
      to.map(({ chat, environment: name }) => chat.send(callOf(message, name, reading))),
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
    inspect: (name, turn) => choose(name, turn, { tab: tab ?? 'request' }),
    edit: ({ message }) => {
      draft.change({ message });
      input.current?.focus();
    },
    repeat: (name, turn) => {
      const to = halves.find((half) => half.environment === name);
      const reading = draft.readNow();
      if (!to || cannotRepeat(to, turn, reading)) return;
      choose();
      void to.chat.send(repeated(turn, callOf(turn.message, name, reading)));
    },
  });

  const chosenIn = ({ environment: name, earlier, chat }: Half) =>
    // A turn of this visit has its requests, also once it is stored.
    [...chat.turns, ...earlier.turns].find((one) =>
      chosen ? one.id === chosen.id && name === chosen.environment : runId && one.runId === runId,
    );
  const side =
    shown.find((half) => half.environment === chosen?.environment) ??
    shown.find(chosenIn) ??
    shown[0];
  const turn = side && (chosenIn(side) ?? side.chat.turns.at(-1));
  const example = callOf(draft.message || 'Hello!', side?.environment ?? environment);
  return (
    <div className={`playground${isCompared ? ' playground-compared' : ''}`} data-tab={tab}>
      <div className="playground-talk">
        <SessionBar
          sessionId={sessionId}
          facts={side?.earlier.facts ?? []}
          onChange={(id) => onChange({ sessionId: id, runId: undefined }, true)}
          onBegin={onBegin}
        />
        <div className="playground-sides">
          {shown.map((half) => (
            <Side
              key={half.environment}
              botId={bot.id}
              sessionId={sessionId}
              half={half}
              hasTitle={isCompared}
              actions={actionsOf[half.environment]}
              cannotRepeat={(one) => cannotRepeat(half, one)}
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
          choose(name, half?.chat.turns.at(-1));
        }}
        tab={tab}
        onTab={(name) => onChange({ tab: name })}
      />
    </div>
  );
}

/** Returns a function that tells why no message can be sent. */
function useWhyNot(botId: string) {
  const mayChat = useScope('CHAT');
  const key = useRestKey(botId);
  return (protocol: Call['protocol'], to: Half[], { fault }: ContextReading) => {
    const missing = to.find(({ isDeployed }) => !isDeployed);
    if (protocol === 'graphql' && !mayChat) return lacks('CHAT');
    if (protocol === 'rest' && !key) return 'REST needs an API key: type one, or create one.';
    if (missing) return `Nothing is deployed to ${missing.label.toLowerCase()}.`;
    return fault && 'Correct the context first.';
  };
}

/**
 * The call that sends the message of a turn again. It has no idempotency key that may hold a reply, because it would get
 * that reply again.
 *
 * @param fresh the call for a turn of an earlier visit.
 */
function repeated({ call, state, problem }: Turn, fresh: Call): Call {
  const isKeyUsed = state !== 'failed' || problem?.code === 'IDEMPOTENCY_CONFLICT';
  return call && !isKeyUsed ? call : { ...(call ?? fresh), idempotencyKey: undefined };
}

/** The same actions as long as the view is open, for both environments. */
function useTurnActions(actions: {
  inspect(environment: Environment, turn: Turn): void;
  edit(turn: Turn): void;
  repeat(environment: Environment, turn: Turn): void;
}): Record<Environment, TurnActions> {
  const latest = useRef(actions);
  latest.current = actions;
  return useMemo(() => {
    const of = (environment: Environment): TurnActions => ({
      inspect: (turn) => latest.current.inspect(environment, turn),
      edit: (turn) => latest.current.edit(turn),
      repeat: (turn) => latest.current.repeat(environment, turn),
    });
    return { PRODUCTION: of('PRODUCTION'), STAGING: of('STAGING') };
  }, []);
}
