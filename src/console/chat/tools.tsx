import { useState } from 'react';
import { Badge } from '../parts/badge.tsx';
import { CodeBlock } from '../parts/copy.tsx';
import { indentedJson } from '../parts/indented-json.ts';
import { duration } from '../parts/time.tsx';
import type { Tool } from './turn.ts';

/** The maximum number of tool calls listed individually. Beyond it, the list is collapsed, and running calls stay below it. */
const MAX_OPEN = 6;

const TONES = { running: 'live', done: 'good', failed: 'bad' } as const;

/** Tool calls that follow one another, while they run and afterwards. */
export function Tools({ tools }: { tools: Tool[] }) {
  if (tools.length <= MAX_OPEN) return <Chips tools={tools} />;
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
      {running.length > 0 && <Chips tools={running.slice(-MAX_OPEN)} />}
    </>
  );
}

function Chips({ tools }: { tools: Tool[] }) {
  return (
    <ul className="tool-list" aria-label="Tool calls">
      {tools.map((tool) =>
        tool.result === undefined ? (
          <li key={tool.callId} className="chip">
            <ToolBadge tool={tool} />
          </li>
        ) : (
          <li key={tool.callId}>
            <StoredTool tool={tool} result={tool.result} />
          </li>
        ),
      )}
    </ul>
  );
}

function ToolBadge({ tool: { name, state, ms } }: { tool: Tool }) {
  return (
    <Badge tone={TONES[state]}>
      <span className="mono">{name}</span>
      {state !== 'done' && ` ${state}`}
      {ms !== undefined && ` ${duration(ms)}`}
    </Badge>
  );
}

/** Characters of a result that show. The whole can be copied. */
const MAX_SHOWN = 4_000;

/** A tool call that opens its result. */
function StoredTool({ tool, result }: { tool: Tool; result: string }) {
  const [isOpen, setOpen] = useState(false);
  const text = isOpen && result.length <= MAX_SHOWN ? indentedJson(result) : result;
  return (
    <details className="tool-result" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary className="chip chip-button">
        <ToolBadge tool={tool} />
      </summary>
      {isOpen && (
        <CodeBlock label={`Result of ${tool.name}`} shown={cut(text)}>
          {text}
        </CodeBlock>
      )}
    </details>
  );
}

function cut(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
