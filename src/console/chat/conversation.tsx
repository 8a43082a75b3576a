import { memo, type ReactNode, useLayoutEffect, useRef } from 'react';
import { Badge } from '../parts/badge.tsx';
import { Refused } from '../parts/state.tsx';
import './conversation.css';
import type { Piece, Turn } from './turn.ts';

/** Distance from the end, in pixels, within which the view follows the stream. */
const NEAR_END = 48;

/** The turns of a conversation. It follows the stream while the reader is at its end. */
export function Conversation({ turns, children }: { turns: Turn[]; children?: ReactNode }) {
  const scroller = useRef<HTMLElement>(null);
  const follows = useRef(true);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element && follows.current && turns.length > 0) element.scrollTop = element.scrollHeight;
  }, [turns]);
  return (
    <section
      ref={scroller}
      className="conversation"
      aria-label="Conversation"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard must reach what scrolls
      tabIndex={0}
      onScroll={({ currentTarget: { scrollTop, clientHeight, scrollHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < NEAR_END;
      }}
    >
      {turns.length === 0 && children}
      <ol>
        {turns.map((turn) => (
          <TurnView key={turn.id} turn={turn} />
        ))}
      </ol>
    </section>
  );
}

const TurnView = memo(function TurnView({ turn }: { turn: Turn }) {
  const { message, pieces, state, problem } = turn;
  return (
    <li className="turn">
      <p className="turn-message" dir="auto">
        {message}
      </p>
      <div className="turn-reply" aria-busy={state === 'streaming'}>
        {pieces.map((piece, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: pieces are only added at the end
          <PieceView key={at} piece={piece} />
        ))}
        {problem && <Refused problem={problem} />}
        <p className="turn-facts number">
          <Badge tone={TONES[state]}>{factsOf(turn)}</Badge>
        </p>
      </div>
    </li>
  );
});

const TONES = {
  waiting: 'live',
  streaming: 'live',
  done: 'good',
  failed: 'bad',
  stopped: 'off',
} as const;

function factsOf({ state, firstMs, latencyMs, tokens }: Turn): string {
  const words = {
    waiting: 'waiting',
    streaming: 'streaming',
    done: '',
    failed: 'failed',
    stopped: 'stopped',
  };
  const facts = [
    words[state],
    firstMs !== undefined && `first text after ${duration(firstMs)}`,
    latencyMs !== undefined && duration(latencyMs),
    tokens !== undefined && `${tokens.toLocaleString('en')} tokens`,
  ];
  return facts.filter(Boolean).join(' · ');
}

function duration(ms: number): string {
  return ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function PieceView({ piece }: { piece: Piece }) {
  if (piece.type === 'text')
    return (
      <div className="turn-text" dir="auto">
        {piece.text}
      </div>
    );
  const { name, state, ms } = piece;
  const tone = { running: 'live', done: 'good', failed: 'bad' } as const;
  return (
    <p className="chip">
      <Badge tone={tone[state]}>
        <span className="mono">{name}</span> {ms === undefined ? state : duration(ms)}
        {state === 'failed' && ' · failed'}
      </Badge>
    </p>
  );
}
