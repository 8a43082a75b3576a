import { useMemo } from 'react';
import { ReplyText } from '../../../chat/reply-text.tsx';
import { type Turn, textOf } from '../../../chat/turn.ts';
import { TurnProblem } from '../../../chat/turn-problem.tsx';
import type { WordPart } from '../../../diff/words.ts';
import { each } from '../../../parts/each.ts';
import { markTexts } from './marked-texts.ts';
import type { TurnPair } from './pair-turns.ts';
import { Difference, Row, type ShownSides } from './row.tsx';

/** The replies of both sides, with their differences marked or as people read them. */
export function Replies({
  pair: { left, right },
  row,
  isMarked,
  isDone,
}: {
  pair: TurnPair;
  row: ShownSides;
  isMarked: boolean;
  isDone: boolean;
}) {
  const [one, two] = [left ? textOf(left) : '', right ? textOf(right) : ''];
  const marked = useMemo(() => (isDone ? markTexts(one, two) : undefined), [isDone, one, two]);
  const isSame = one === two;
  const show = (turn: Turn | undefined, parts: WordPart[] | undefined, Mark: 'ins' | 'del') =>
    turn && (
      <>
        {isMarked && parts && !isSame ? (
          <p className="turn-text compare-marked" dir="auto">
            {each(parts, ({ text, isChanged }) => (isChanged ? <Mark>{text}</Mark> : text))}
          </p>
        ) : (
          textOf(turn) && <ReplyText text={textOf(turn)} />
        )}
        {turn.problem && <TurnProblem problem={turn.problem} runId={turn.runId} />}
      </>
    );
  return (
    <Row
      {...row}
      left={show(left, marked?.left, 'del')}
      right={show(right, marked?.right, 'ins')}
      differs={isDone && !isSame}
      middle={marked && <Difference sign={isSame ? '=' : '≠'}>{marked.words}</Difference>}
    />
  );
}
