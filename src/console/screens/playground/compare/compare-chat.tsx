import { useCallback, useRef, useState } from 'react';
import type { Turn } from '../../../chat/turn.ts';
import type { Call } from '../../../server/call.ts';
import { lacks, useScope } from '../../../server/viewer.ts';
import { Inspector } from '../inspector/inspector.tsx';
import type { PlaygroundChatProps } from '../playground-chat.tsx';
import { RequestComposer } from '../request-composer.tsx';
import { SessionBar } from '../session-bar.tsx';
import { withoutFaults } from '../use-parameters.ts';
import './compare.css';
import { CompareHead } from './compare-head.tsx';
import { CompareTurns } from './compare-turns.tsx';
import { EffectNote } from './effect-note.tsx';
import { nameOf, type SideChat, type SideName, useSideChat } from './use-side-chat.ts';

/** Sends each message to two sides, and shows their replies in shared rows with the differences between them. */
export default function CompareChat(props: PlaygroundChatProps) {
  const { bot, sessionId, parameters, draft, onChange, onBegin } = props;
  const { hasTools, isMarked, onBusy, tab, runId } = parameters;
  const left = useSideChat('left', props);
  const right = useSideChat('right', props);
  const both = [left, right];
  const input = useRef<HTMLTextAreaElement>(null);
  // Without an id, the last turn of the side is inspected.
  const [chosen, setChosen] = useState<{ at: SideName; id: string | undefined }>();
  const unavailable = useWhyNot(both, draft.reading.fault !== undefined);

  const callOf = (
    { side, sessionId: id }: SideChat,
    message: string,
    { value } = draft.reading,
  ): Call => ({
    botId: bot.id,
    sessionId: id,
    message,
    environment: side.environment,
    // A draft is taken by a stream of GraphQL only, and times are compared of the same protocol.
    protocol: 'graphql',
    isStreamed: true,
    context: value,
    onBusy: onBusy === 'REJECT' ? onBusy : undefined,
    withoutTools: !hasTools,
    ...(side.source !== undefined && { draft: { definition: side.source, envVars: [] } }),
  });
  const send = async () => {
    const { message } = draft;
    const reading = draft.readNow();
    if (reading.fault) return;
    draft.change({ message: '' });
    setChosen({ at: inspectedSide.at, id: undefined });
    onChange({ runId: undefined, context: draft.addressed() });
    const refusals = await Promise.all(
      both.map((one) => one.chat.send(callOf(one, message, reading))),
    );
    // The session had ended before the message was sent, so it stays in the field.
    if (refusals.some(Boolean)) draft.change({ message });
  };

  const chosenIn = ({ at, turns }: SideChat) =>
    turns.find((one) =>
      chosen?.id ? one.id === chosen.id && at === chosen.at : runId && one.runId === runId,
    );
  const inspectedSide = both.find(({ at }) => at === chosen?.at) ?? both.find(chosenIn) ?? left;
  const inspected = chosenIn(inspectedSide) ?? inspectedSide.turns.at(-1);
  const other = inspectedSide.at === 'left' ? right : left;
  const inspect = useCallback(
    (at: SideName, turn: Turn | undefined) => {
      setChosen({ at, id: turn?.id });
      onChange({ runId: turn?.runId, tab: tab ?? 'prompt' });
    },
    [tab, onChange],
  );
  return (
    <div className="playground playground-compared" data-tab={tab}>
      <div className="playground-talk">
        <SessionBar
          sessionId={sessionId}
          facts={[]}
          onChange={(id) =>
            onChange(
              { sessionId: id, leftSession: undefined, rightSession: undefined, runId: undefined },
              true,
            )
          }
          onBegin={onBegin}
        />
        <CompareTurns
          botId={bot.id}
          left={left}
          right={right}
          isMarked={isMarked}
          inspected={tab && inspected?.id}
          onInspect={inspect}
          head={
            <CompareHead
              botId={bot.id}
              both={both}
              isMarked={isMarked}
              onMarked={(marked) => onChange({ isMarked: marked })}
              onChoose={(at, choice) =>
                onChange({
                  [at]: choice,
                  [`${at}Session`]: undefined,
                  runId: undefined,
                  faults: withoutFaults(parameters.faults, at),
                })
              }
            />
          }
        />
        <div className="playground-composer">
          <RequestComposer
            bot={bot}
            deploymentId={left.side.deploymentId ?? right.side.deploymentId}
            input={input}
            draft={draft}
            parameters={parameters}
            onChange={onChange}
            isBusy={both.some(({ chat }) => chat.isBusy)}
            unavailable={unavailable}
            note={<EffectNote both={both} hasTools={hasTools} />}
            onSend={() => void send()}
            onStop={() => {
              for (const { chat } of both) if (chat.isBusy) void chat.stop();
            }}
          />
        </div>
      </div>
      <Inspector
        turn={inspected}
        example={callOf(inspectedSide, draft.message || 'Hello!')}
        sides={both.map(({ at, side }) => ({ name: at, label: nameOf(side) }))}
        side={inspectedSide.at}
        compared={{
          label: nameOf(other.side),
          turn: counterpartOf(inspected, inspectedSide.turns, other.turns),
        }}
        onSide={(at) => inspect(at, (at === 'left' ? left : right).turns.at(-1))}
        tab={tab}
        firstTab="prompt"
        onTab={(name) => onChange({ tab: name })}
      />
    </div>
  );
}

/** The turn of the other side for the same message, counted from the last one. */
function counterpartOf(
  turn: Turn | undefined,
  own: readonly Turn[],
  others: readonly Turn[],
): Turn | undefined {
  const at = turn ? own.findIndex(({ id }) => id === turn.id) : -1;
  const found = at < 0 ? undefined : others.at(at - own.length);
  return found?.message === turn?.message ? found : undefined;
}

/** Why no message can be sent to both. */
function useWhyNot(both: SideChat[], hasFault: boolean): string | undefined {
  const mayChat = useScope('CHAT');
  if (!mayChat && both.some(({ choice }) => choice.kind === 'environment')) return lacks('CHAT');
  const missing = both.find(({ side }) => side.missing !== undefined);
  if (missing) return missing.side.missing;
  if (both.some(({ side }) => side.problem)) return 'A side could not be read.';
  if (both.some(({ side }) => side.isReading)) return 'A side is being read.';
  return hasFault ? 'Correct the context first.' : undefined;
}
