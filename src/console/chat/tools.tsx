import { Badge } from '../parts/badge.tsx';
import { duration } from '../parts/time.tsx';
import type { Piece } from './turn.ts';

type Tool = Extract<Piece, { type: 'tool' }>;

/** The maximum number of tool calls listed individually. Beyond it, the list is collapsed, and running calls stay below it. */
const MOST_OPEN = 6;

const TONES = { running: 'live', done: 'good', failed: 'bad' } as const;

/** Tool calls that follow one another, while they run and afterwards. */
export function Tools({ tools }: { tools: Tool[] }) {
  if (tools.length <= MOST_OPEN) return <Chips tools={tools} />;
  const failed = tools.filter(({ state }) => state === 'failed').length;
  const running = tools.filter(({ state }) => state === 'running');
  return (
    <>
      <details className="tools">
        <summary>
          {tools.length.toLocaleString('en')} tool calls
          {failed > 0 && `, ${failed.toLocaleString('en')} failed`}
        </summary>
        <Chips tools={tools} />
      </details>
      {running.length > 0 && <Chips tools={running.slice(-MOST_OPEN)} />}
    </>
  );
}

function Chips({ tools }: { tools: Tool[] }) {
  return (
    <ul className="tool-list" aria-label="Tool calls">
      {tools.map(({ callId, name, state, ms }) => (
        <li key={callId} className="chip">
          <Badge tone={TONES[state]}>
            <span className="mono">{name}</span>
            {state !== 'done' && ` ${state}`}
            {ms !== undefined && ` ${duration(ms)}`}
          </Badge>
        </li>
      ))}
    </ul>
  );
}
