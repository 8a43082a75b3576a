import { memo, type ReactNode, useState } from 'react';
import type { Turn } from '../../../chat/turn.ts';
import { IconButton } from '../../../parts/button.tsx';
import { Segments } from '../../../parts/segments.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import type { Call } from '../../../server/call.ts';
import type { Exchange } from '../../../server/recording.ts';
import type { TabName } from '../use-parameters.ts';
import { CodeTab } from './code-tab.tsx';
import './inspector.css';
import { LimitsTab } from './limits-tab.tsx';
import { type ComparedTurn, PromptTab } from './prompt-tab.tsx';
import { RequestTab } from './request-tab.tsx';
import { ResponseTab } from './response-tab.tsx';
import { TraceTab } from './trace-tab.tsx';
import { useExchanges } from './use-exchanges.ts';

const TABS: { name: TabName; label: string }[] = [
  { name: 'prompt', label: 'Prompt' },
  { name: 'request', label: 'Request' },
  { name: 'response', label: 'Response' },
  { name: 'trace', label: 'Trace' },
  { name: 'limits', label: 'Limits' },
  { name: 'code', label: 'Code' },
];

type Side = 'left' | 'right';

/** Shows the requests of one reply, and their responses. On a narrow screen, it replaces the conversation. */
export function Inspector({
  turn,
  example,
  sides = [],
  side,
  compared,
  onSide,
  tab,
  firstTab = 'request',
  onTab,
}: {
  turn: Turn | undefined;
  /** What would be sent now, for the code before the first message. */
  example: Call;
  /** The sides of a comparison to choose from. */
  sides?: { name: Side; label: string }[];
  side?: Side | undefined;
  /** The reply of the other side to the same message. */
  compared?: Pick<ComparedTurn, 'label' | 'turn'> | undefined;
  onSide?(name: Side): void;
  tab: TabName | undefined;
  /** The tab that is open if the address names none. */
  firstTab?: TabName;
  onTab(tab: TabName | undefined): void;
}) {
  const current = tab ?? firstTab;
  const label = sides.find(({ name }) => name === side)?.label ?? '';
  const isFirst = side === 'right';
  return (
    <aside className="inspector" aria-label="Inspector">
      <div className="inspector-back">
        <IconButton
          label="Back to the conversation"
          icon="close"
          onClick={() => onTab(undefined)}
        />
      </div>
      {onSide && (
        <div className="inspector-sides">
          <Segments label="Inspected side" options={sides} current={side} onChange={onSide} />
        </div>
      )}
      <Tabs<TabName> label="Inspector" tabs={TABS} current={current} onChange={onTab}>
        {current === 'prompt' && turn ? (
          <PromptTab
            key={turn.id}
            turn={turn}
            label={label}
            compared={compared && { ...compared, isFirst }}
          />
        ) : (
          <Panel tab={current} turn={turn} call={turn?.call ?? example} />
        )}
      </Tabs>
    </aside>
  );
}

/** The open tab. Typing the next message does not render it again. */
const Panel = memo(
  function Panel({
    tab,
    turn,
    call,
  }: {
    tab: TabName;
    turn: Turn | undefined;
    call: Call;
  }): ReactNode {
    if (tab === 'limits') return <LimitsTab turn={turn} />;
    if (tab === 'code') return call.draft ? <NoCode /> : <CodeTab call={call} />;
    if (!turn) return <Hint>Send a message to see its {tab}.</Hint>;
    if (tab === 'trace') return <TraceTab key={turn.id} turn={turn} />;
    return (
      <OfExchange key={turn.id} turn={turn} tab={tab === 'response' ? 'response' : 'request'} />
    );
  },
  (one, other) =>
    one.tab === other.tab &&
    one.turn === other.turn &&
    (one.tab !== 'code' || one.call === other.call),
);

/** One of the requests of a turn. A stream that was cut has several. */
function OfExchange({ turn, tab }: { turn: Turn; tab: 'request' | 'response' }) {
  const exchanges = useExchanges(turn.recording);
  const [chosen, setChosen] = useState<string>();
  const at = chosen === undefined ? exchanges.length - 1 : Number(chosen);
  const exchange: Exchange | undefined = exchanges[at];
  if (!exchange)
    return (
      <Hint>
        {turn.call
          ? 'Only the requests of the last 20 messages are kept.'
          : 'This message was sent before this view was opened. Its request is not stored.'}
      </Hint>
    );
  return (
    <>
      {exchanges.length > 1 && (
        <div className="inspector-sides">
          <Segments
            label="Request"
            options={exchanges.map((_, index) => ({
              name: String(index),
              label: index === 0 ? 'First request' : `Resumed ${index}`,
            }))}
            current={String(at)}
            onChange={setChosen}
          />
        </div>
      )}
      {tab === 'request' ? (
        <RequestTab exchange={exchange} />
      ) : (
        <ResponseTab key={at} exchange={exchange} />
      )}
    </>
  );
}

function NoCode() {
  return (
    <Hint>
      A draft is sent with each message of the console. Deploy it to call it from your code.
    </Hint>
  );
}

function Hint({ children }: { children: ReactNode }) {
  return <p className="inspector-hint">{children}</p>;
}
