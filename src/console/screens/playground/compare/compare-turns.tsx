import { type ReactNode, useMemo, useState } from 'react';
import { WaitingCalls } from '../../../approvals/waiting-calls.tsx';
import { ConversationScroll } from '../../../chat/conversation-scroll.tsx';
import { EarlierTurns } from '../../../chat/earlier-turns.tsx';
import type { Turn } from '../../../chat/turn.ts';
import { Empty } from '../../../parts/state.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { useIsBelow } from '../../../parts/use-is-below.ts';
import { idOf, pairTurns } from './pair-turns.ts';
import { TurnRows } from './turn-rows.tsx';
import { nameOf, type SideChat, type SideName } from './use-side-chat.ts';

/** The width below which one side has room at a time, as in `compare.css`. */
const NARROW = 640;

/** The messages to both sides, each with the replies in shared rows. On a narrow screen one side shows at a time. */
export function CompareTurns({
  botId,
  left,
  right,
  isMarked,
  inspected,
  head,
  onInspect,
}: {
  botId: string;
  left: SideChat;
  right: SideChat;
  isMarked: boolean;
  /** The id of the turn that the inspector shows. */
  inspected: string | undefined;
  head: ReactNode;
  onInspect(at: SideName, turn: Turn): void;
}) {
  const isNarrow = useIsBelow(NARROW);
  const [tab, setTab] = useState<SideName>('left');
  const shown: SideName[] = isNarrow ? [tab] : ['left', 'right'];
  const pairs = useMemo(() => pairTurns(left.turns, right.turns), [left.turns, right.turns]);
  const items = useMemo(() => pairs.map((pair) => ({ id: idOf(pair) })), [pairs]);
  const names = { left: nameOf(left.side), right: nameOf(right.side) };
  const both = [left, right];
  const tabs = [
    { name: 'left' as const, label: names.left },
    { name: 'right' as const, label: names.right },
  ];
  const talk = (
    <ConversationScroll
      label="Comparison"
      items={items}
      isBusy={both.some(({ chat }) => chat.isBusy)}
    >
      {both
        .filter(({ at, earlier }) => shown.includes(at) && (earlier.problem || earlier.hasMore))
        .slice(0, 1)
        .map(({ at }) => (
          <EarlierTurns key={at} stored={earlierOf(left, right)} />
        ))}
      {pairs.length === 0 && (
        <Empty title="One message, two replies">
          <p>
            Each message goes to both sides, in separate sessions. Replies and tool calls share
            rows, and the column between them says what differs.
          </p>
        </Empty>
      )}
      <ol className="compare-pairs">
        {pairs.map((pair) => (
          <TurnRows
            key={idOf(pair)}
            pair={pair}
            names={names}
            shown={shown}
            isMarked={isMarked}
            inspected={inspected}
            onInspect={onInspect}
          />
        ))}
        {both.map(({ at, side, sessionId }) =>
          sessionId && shown.includes(at) ? (
            <WaitingCalls
              key={at}
              session={{ botId, environment: side.environment, sessionId }}
              side={names[at]}
            />
          ) : null,
        )}
      </ol>
    </ConversationScroll>
  );
  return (
    <div className="compare-talk">
      {head}
      {isNarrow ? (
        <Tabs<SideName> label="Sides" tabs={tabs} current={tab} onChange={setTab}>
          {talk}
        </Tabs>
      ) : (
        talk
      )}
    </div>
  );
}

/** The earlier turns of both sides as one. */
function earlierOf({ earlier: one }: SideChat, { earlier: other }: SideChat): SideChat['earlier'] {
  const readMore = () => {
    for (const stored of [one, other]) if (stored.hasMore || stored.problem) stored.readMore();
  };
  return {
    ...one,
    problem: one.problem ?? other.problem,
    hasMore: one.hasMore || other.hasMore,
    isReading: one.isReading || other.isReading,
    readMore,
  };
}
