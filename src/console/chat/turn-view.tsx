import { memo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { TurnRating } from '../feedback/turn-rating.tsx';
import { useMayRate } from '../feedback/use-rating.ts';
import { IconButton } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { each } from '../parts/each.ts';
import { Status } from '../parts/status.tsx';
import { duration, ShortTime } from '../parts/time.tsx';
import { useScope } from '../server/viewer.ts';
import { ReplyText } from './reply-text.tsx';
import { Tools } from './tools.tsx';
import { grouped, isOpen, type PieceGroup, type Turn, textOf } from './turn.ts';
import { TurnNotice } from './turn-notice.tsx';
import { TurnProblem } from './turn-problem.tsx';

/** The actions on a turn. The functions stay the same while the conversation grows. */
export type TurnActions = {
  repeat(turn: Turn): void;
  edit(turn: Turn): void;
  inspect(turn: Turn): void;
};

/** A message, and the reply with its tool calls where they happened. */
export const TurnView = memo(function TurnView({
  turn,
  user,
  actions,
  cannotRepeat,
  isInspected,
}: {
  turn: Turn;
  /** Who wrote the message. */
  user: string;
  actions?: TurnActions | undefined;
  /** Why the message cannot be sent again now. */
  cannotRepeat?: string | undefined;
  isInspected: boolean;
}) {
  const { message, notice, createdAt, pieces, state, problem, runId } = turn;
  return (
    <li className={isInspected ? 'turn turn-inspected' : 'turn'}>
      {createdAt && (
        <p className="turn-time">
          <ShortTime at={createdAt} />
        </p>
      )}
      {message && (
        <p className="turn-message" dir="auto">
          {/* `dir="auto"` keeps this element from changing the direction of the message. */}
          <span className="unseen" dir="ltr">
            {user}:{' '}
          </span>
          {message}
        </p>
      )}
      {notice !== undefined && <TurnNotice notice={notice} />}
      <div className="turn-reply" aria-busy={isOpen(turn)}>
        {each(grouped(pieces), (group) => (
          <Group group={group} />
        ))}
        {problem && (
          <TurnProblem
            problem={problem}
            runId={runId}
            onRepeat={actions && turn.call && (() => actions.repeat(turn))}
            cannotRepeat={cannotRepeat}
          />
        )}
        <div className="turn-foot">
          <span className="turn-facts number">
            <Status {...STATES[state]}>{factsOf(turn)}</Status>
          </span>
          {runId && <RunLink id={runId} />}
          {actions && (
            <Actions
              turn={turn}
              actions={actions}
              cannotRepeat={cannotRepeat}
              isInspected={isInspected}
            />
          )}
        </div>
      </div>
    </li>
  );
});

/** Leads to the run of a turn. */
function RunLink({ id }: { id: string }) {
  const mayRead = useScope('RUNS');
  if (!mayRead) return null;
  return (
    <Link className="turn-run" href={`/runs/${id}`}>
      run
    </Link>
  );
}

function Actions({
  turn,
  actions,
  cannotRepeat,
  isInspected,
}: {
  turn: Turn;
  actions: TurnActions;
  cannotRepeat: string | undefined;
  isInspected: boolean;
}) {
  const text = textOf(turn);
  const isMessage = turn.notice === undefined;
  const mayRate = useMayRate();
  return (
    <span className="turn-actions">
      {turn.runId && mayRate && !isOpen(turn) && (
        <TurnRating runId={turn.runId} feedback={turn.feedback ?? []} />
      )}
      <IconButton
        label="Inspect"
        icon="panel"
        aria-pressed={isInspected}
        onClick={() => actions.inspect(turn)}
      />
      {text && <CopyButton label="Copy the reply" text={text} />}
      {isMessage && (
        <IconButton label="Edit and send again" icon="edit" onClick={() => actions.edit(turn)} />
      )}
      {isMessage && !isOpen(turn) && !turn.problem && (
        <IconButton
          label="Send again"
          icon="repeat"
          unavailable={cannotRepeat}
          onClick={() => actions.repeat(turn)}
        />
      )}
    </span>
  );
}

/** The state of a turn: a word, and an icon with its tone. */
export function stateOf({ state }: Turn) {
  return { word: WORDS[state], ...STATES[state] };
}

const STATES = {
  waiting: { icon: 'clock', tone: 'live' },
  streaming: { icon: 'dashed', tone: 'live' },
  done: { icon: 'check', tone: 'good' },
  failed: { icon: 'warning', tone: 'bad' },
  stopped: { icon: 'barred', tone: 'off' },
} as const;

const WORDS = {
  waiting: 'waiting',
  streaming: 'streaming',
  done: 'completed',
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
  return facts.filter(Boolean).join(' · ');
}

function Group({ group }: { group: PieceGroup }): ReactNode {
  return Array.isArray(group) ? <Tools tools={group} /> : <ReplyText text={group} />;
}
