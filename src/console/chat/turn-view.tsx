import { lazy, memo, type ReactNode, Suspense } from 'react';
import { Badge } from '../parts/badge.tsx';
import { IconButton } from '../parts/button.tsx';
import { useCopy } from '../parts/copy.tsx';
import { duration } from '../parts/time.tsx';
import { Tools } from './tools.tsx';
import { isOpen, type Piece, type Turn, textOf } from './turn.ts';
import { TurnProblem } from './turn-problem.tsx';

/** Loads while the first message is written. If the network is lost before that, replies are plain text. */
const markdown = import('./markdown.tsx').catch(() => ({ default: PlainText }));
const Markdown = lazy(() => markdown);

/** What can be done with a turn. The functions stay the same while the conversation grows. */
export type TurnActions = {
  repeat(turn: Turn): void;
  edit(turn: Turn): void;
  inspect(turn: Turn): void;
};

/** A message, and the reply with its tool calls where they happened. */
export const TurnView = memo(function TurnView({
  turn,
  actions,
  isInspected,
}: {
  turn: Turn;
  actions?: TurnActions | undefined;
  isInspected: boolean;
}) {
  const { message, pieces, state, problem, runId } = turn;
  return (
    <li className={isInspected ? 'turn turn-inspected' : 'turn'}>
      <p className="turn-message" dir="auto">
        <span className="unseen">You: </span>
        {message}
      </p>
      <div className="turn-reply" aria-busy={isOpen(turn)}>
        {grouped(pieces).map((group, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only added at the end
          <Group key={at} group={group} />
        ))}
        {problem && (
          <TurnProblem
            problem={problem}
            runId={runId}
            onRepeat={actions && turn.call && (() => actions.repeat(turn))}
          />
        )}
        <div className="turn-foot">
          <span className="turn-facts number">
            <Badge tone={TONES[state]}>{factsOf(turn)}</Badge>
          </span>
          {actions && <Actions turn={turn} actions={actions} isInspected={isInspected} />}
        </div>
      </div>
    </li>
  );
});

function Actions({
  turn,
  actions,
  isInspected,
}: {
  turn: Turn;
  actions: TurnActions;
  isInspected: boolean;
}) {
  const text = textOf(turn);
  return (
    <span className="turn-actions">
      <IconButton
        label="Inspect"
        icon="panel"
        aria-pressed={isInspected}
        onClick={() => actions.inspect(turn)}
      />
      {text && <CopyReply text={text} />}
      <IconButton label="Edit and send again" icon="edit" onClick={() => actions.edit(turn)} />
      {!isOpen(turn) && !turn.problem && (
        <IconButton label="Send again" icon="repeat" onClick={() => actions.repeat(turn)} />
      )}
    </span>
  );
}

function CopyReply({ text }: { text: string }) {
  const [isCopied, copy] = useCopy(text);
  return <IconButton label="Copy the reply" icon={isCopied ? 'check' : 'copy'} onClick={copy} />;
}

const TONES = {
  waiting: 'live',
  streaming: 'live',
  done: 'good',
  failed: 'bad',
  stopped: 'off',
} as const;

const WORDS = {
  waiting: 'waiting',
  streaming: 'streaming',
  done: '',
  failed: 'failed',
  stopped: 'stopped',
};

function factsOf(turn: Turn): string {
  const { state, firstMs, latencyMs, tokens } = turn;
  const facts = [
    WORDS[state],
    firstMs !== undefined && turn.call?.isStreamed && `first text after ${duration(firstMs)}`,
    latencyMs !== undefined && duration(latencyMs),
    tokens !== undefined && `${tokens.toLocaleString('en')} tokens`,
  ];
  return facts.filter(Boolean).join(' · ') || 'done';
}

type Tool = Extract<Piece, { type: 'tool' }>;
type PieceGroup = string | Tool[];

/** The pieces of a reply, with the tool calls that follow one another in one group. */
function grouped(pieces: Piece[]): PieceGroup[] {
  const groups: PieceGroup[] = [];
  for (const piece of pieces) {
    const last = groups.at(-1);
    if (piece.type === 'text') groups.push(piece.text);
    else if (Array.isArray(last)) last.push(piece);
    else groups.push([piece]);
  }
  return groups;
}

function Group({ group }: { group: PieceGroup }): ReactNode {
  if (Array.isArray(group)) return <Tools tools={group} />;
  return (
    <Suspense fallback={<PlainText text={group} />}>
      <Markdown text={group} />
    </Suspense>
  );
}

function PlainText({ text }: { text: string }) {
  return (
    <div className="turn-text" dir="auto">
      {text}
    </div>
  );
}
