import { useMemo, useRef, useState } from 'react';
import type { BotQuery } from '../../../generated/operations/console.ts';
import type { Environment } from '../../../vocabulary/environments.ts';
import type { Turn } from '../../chat/turn.ts';
import type { TurnActions } from '../../chat/turn-view.tsx';
import { useChat } from '../../chat/use-chat.ts';
import { useStoredSession } from '../../chat/use-stored-session.ts';
import { useEnvironment } from '../../frame/environments.ts';
import type { ChangeAddress } from '../../frame/use-address.ts';
import type { Call } from '../../server/call.ts';
import { useRestKey } from '../../server/rest-key.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import type { ContextReading } from './context-json.ts';
import type { Half } from './half.ts';
import { keyFault } from './idempotency-key.ts';
import { Inspector } from './inspector/inspector.tsx';
import { RequestComposer } from './request-composer.tsx';
import { SessionBar } from './session-bar.tsx';
import { Side } from './side.tsx';
import type { Draft } from './use-draft.ts';
import type { Parameters } from './use-parameters.ts';

/** What the conversation of the playground is given, with one environment or in a comparison. */
export type PlaygroundChatProps = {
  bot: NonNullable<BotQuery['bot']>;
  sessionId: string;
  isNew: boolean;
  parameters: Parameters;
  draft: Draft;
  onChange: ChangeAddress<Parameters>;
  onBegin(): void;
};

/** The conversation of one session with one environment. The other environment keeps its turns. */
export function PlaygroundChat({
  bot,
  sessionId,
  isNew,
  parameters,
  draft,
  onChange,
  onBegin,
}: PlaygroundChatProps) {
  const { environment } = useEnvironment();
  const { isStreamed, onBusy, tab, runId } = parameters;
  const production = useHalf('PRODUCTION', { bot, sessionId, isNew }, environment);
  const staging = useHalf('STAGING', { bot, sessionId, isNew }, environment);
  const half = environment === 'STAGING' ? staging : production;
  const { chat, earlier } = half;
  const input = useRef<HTMLTextAreaElement>(null);
  const [chosen, setChosen] = useState<string>();
  const whyNot = useWhyNot(bot.id, half);
  const unavailable = whyNot(draft.protocol, draft.reading) ?? keyFault(draft.idempotencyKey);
  const cannotRepeat = ({ call }: Turn, reading = draft.reading) =>
    // A turn of this visit is sent again with the context of its request.
    whyNot((call ?? draft).protocol, call ? {} : reading) ??
    (chat.isBusy ? 'Wait for the end of the reply.' : undefined);

  const callOf = (message: string, { value }: ContextReading = draft.reading): Call => ({
    botId: bot.id,
    sessionId,
    message,
    environment,
    protocol: draft.protocol,
    isStreamed,
    context: value,
    onBusy: onBusy === 'REJECT' ? onBusy : undefined,
    idempotencyKey: draft.idempotencyKey || undefined,
  });
  const choose = (turn?: Turn, changes?: Partial<Parameters>) => {
    setChosen(turn?.id);
    onChange({ ...changes, runId: turn?.runId });
  };
  const send = async (message: string) => {
    const reading = draft.readNow();
    if (reading.fault) return;
    // A suggestion leaves the field as it is.
    const isTyped = message === draft.message;
    if (isTyped) draft.change({ message: '' });
    choose(undefined, { context: draft.addressed() });
    // The session had ended before the message was sent, so it stays in the field.
    const isRefused = await chat.send(callOf(message, reading));
    if (isRefused && isTyped) draft.change({ message });
  };
  const actions = useTurnActions({
    inspect: (turn) => choose(turn, { tab: tab ?? 'request' }),
    edit: ({ message }) => {
      draft.change({ message });
      input.current?.focus();
    },
    repeat: (turn) => {
      const reading = draft.readNow();
      if (cannotRepeat(turn, reading)) return;
      choose();
      void chat.send(repeated(turn, callOf(turn.message, reading)));
    },
  });

  // A turn of this visit has its requests, also once it is stored.
  const inspected = [...chat.turns, ...earlier.turns].find((one) =>
    chosen ? one.id === chosen : runId && one.runId === runId,
  );
  const turn = inspected ?? chat.turns.at(-1);
  return (
    <div className="playground" data-tab={tab}>
      <div className="playground-talk">
        <SessionBar
          sessionId={sessionId}
          facts={earlier.facts}
          onChange={(id) => onChange({ sessionId: id, runId: undefined }, true)}
          onBegin={onBegin}
        />
        <Side
          key={environment}
          botId={bot.id}
          sessionId={sessionId}
          half={half}
          actions={actions}
          cannotRepeat={cannotRepeat}
          inspected={tab && turn?.id}
          onSuggestion={(text) => {
            if (unavailable === undefined && !chat.isBusy) void send(text);
          }}
        />
        <div className="playground-composer">
          <RequestComposer
            bot={bot}
            deploymentId={half.deploymentId}
            input={input}
            draft={draft}
            parameters={parameters}
            onChange={onChange}
            isBusy={chat.isBusy}
            unavailable={unavailable}
            onSend={() => void send(draft.message)}
            onStop={() => void chat.stop()}
          />
        </div>
      </div>
      <Inspector
        turn={turn}
        example={callOf(draft.message || 'Hello!')}
        tab={tab}
        onTab={(name) => onChange({ tab: name })}
      />
    </div>
  );
}

/** The conversation with one environment, which goes on while the other one is shown. */
function useHalf(
  environment: Environment,
  { bot, sessionId, isNew }: Pick<PlaygroundChatProps, 'bot' | 'sessionId' | 'isNew'>,
  shown: Environment,
): Half {
  const deployment = environment === 'STAGING' ? bot.staging : bot.production;
  const chat = useChat();
  const name = { botId: bot.id, sessionId, environment };
  const earlier = useStoredSession(name, isNew || shown !== environment);
  return {
    environment,
    isDeployed: deployment !== null,
    deploymentId: deployment?.id,
    chat,
    earlier,
  };
}

/** Returns a function with the reason why no message can be sent. */
function useWhyNot(botId: string, { isDeployed, environment }: Half) {
  const mayChat = useScope('CHAT');
  const key = useRestKey(botId);
  return (protocol: Call['protocol'], { fault }: ContextReading) => {
    if (protocol === 'graphql' && !mayChat) return lacks('CHAT');
    if (protocol === 'rest' && !key) return 'REST needs an API key: type one, or create one.';
    if (!isDeployed) return `Nothing is deployed to ${environment.toLowerCase()}.`;
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

/** The same actions as long as the view is open. */
function useTurnActions(actions: TurnActions): TurnActions {
  const latest = useRef(actions);
  latest.current = actions;
  return useMemo(
    () => ({
      inspect: (turn) => latest.current.inspect(turn),
      edit: (turn) => latest.current.edit(turn),
      repeat: (turn) => latest.current.repeat(turn),
    }),
    [],
  );
}
