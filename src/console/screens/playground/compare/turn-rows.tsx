import { memo } from 'react';
import { Tools } from '../../../chat/tools.tsx';
import { isOpen, type Tool, type Turn } from '../../../chat/turn.ts';
import { TurnNotice } from '../../../chat/turn-notice.tsx';
import { count, signedChange } from '../../../numbers.ts';
import { each } from '../../../parts/each.ts';
import { duration } from '../../../parts/time.tsx';
import { isRecord } from '../../../server/record.ts';
import { alignTools, differenceOf } from './align-tools.ts';
import type { TurnPair } from './pair-turns.ts';
import { Replies } from './replies.tsx';
import { Difference, Row, type ShownSides } from './row.tsx';
import { TurnFoot } from './turn-foot.tsx';
import type { SideName } from './use-side-chat.ts';

type RowsProps = ShownSides & {
  pair: TurnPair;
  isMarked: boolean;
  inspected: string | undefined;
  /** Stays the same function while the rows do not change. */
  onInspect(at: SideName, turn: Turn): void;
};

/** A message and what both sides replied: tool calls, text, times and tokens, row by row. */
export const TurnRows = memo(
  function TurnRows({ pair, names, shown, isMarked, inspected, onInspect }: RowsProps) {
    const { left, right } = pair;
    const { message = '', notice } = left ?? right ?? {};
    const isDone = left !== undefined && right !== undefined && !isOpen(left) && !isOpen(right);
    const tools = alignTools(left, right);
    const row = { names, shown };
    return (
      <li className="compare-pair">
        {notice === undefined ? (
          <p className="turn-message compare-message" dir="auto">
            <span className="unseen" dir="ltr">
              To both:{' '}
            </span>
            {message}
          </p>
        ) : (
          <div className="compare-message">
            <TurnNotice notice={notice} />
          </div>
        )}
        {each(tools, (call) => {
          const { sign, words } = differenceOf(call);
          return (
            <Row
              {...row}
              left={call.call && <ToolCell tool={call.call} />}
              right={call.other && <ToolCell tool={call.other} />}
              middle={isDone && <Difference sign={sign}>{words}</Difference>}
              differs={isDone && sign === '≠'}
            />
          );
        })}
        <Replies pair={pair} row={row} isMarked={isMarked && isDone} isDone={isDone} />
        {METRICS.map(({ name, of, unit }) => {
          const [one, two] = [left && of(left), right && of(right)];
          if (one === undefined && two === undefined) return null;
          const show = (value: number | undefined) => (
            <span className="compare-metric">
              <span className="soft">{name}</span>
              <span className="number">{value === undefined ? 'none' : unit(value)}</span>
            </span>
          );
          return (
            <Row
              key={name}
              {...row}
              left={show(one)}
              right={show(two)}
              middle={
                isDone && one !== undefined && two !== undefined ? (
                  <span className="number">
                    {one === two ? 'same' : signedChange(one, two, unit)}
                  </span>
                ) : null
              }
            />
          );
        })}
        <Row
          {...row}
          left={
            left && (
              <TurnFoot
                at="left"
                turn={left}
                isInspected={left.id === inspected}
                onInspect={onInspect}
              />
            )
          }
          right={
            right && (
              <TurnFoot
                at="right"
                turn={right}
                isInspected={right.id === inspected}
                onInspect={onInspect}
              />
            )
          }
          middle={null}
        />
      </li>
    );
  },
  (one, other) =>
    one.pair.left === other.pair.left &&
    one.pair.right === other.pair.right &&
    one.names.left === other.names.left &&
    one.names.right === other.names.right &&
    one.shown.join() === other.shown.join() &&
    one.isMarked === other.isMarked &&
    one.inspected === other.inspected &&
    one.onInspect === other.onInspect,
);

const METRICS: { name: string; of(turn: Turn): number | undefined; unit(value: number): string }[] =
  [
    { name: 'First text', of: ({ firstMs }) => firstMs, unit: duration },
    { name: 'Duration', of: ({ latencyMs }) => latencyMs, unit: duration },
    { name: 'Tokens', of: ({ tokens }) => tokens, unit: count },
  ];

function ToolCell({ tool }: { tool: Tool }) {
  const hasInput = isRecord(tool.input) && Object.keys(tool.input).length > 0;
  const input = hasInput && JSON.stringify(tool.input);
  return (
    <>
      <Tools tools={[tool]} />
      {input && <p className="mono soft compare-input">{input.slice(0, MAX_INPUT)}</p>}
      {tool.status === 'WAITING' && <p className="compare-unsent">Not sent yet.</p>}
    </>
  );
}

/** Characters of arguments that show. The call opens all of them. */
const MAX_INPUT = 400;
