import { useState } from 'react';
import { Status } from '../parts/status.tsx';
import { duration } from '../parts/time.tsx';
import { isFailedCall, TOOL_STATUSES } from '../tool-calls/labels.ts';
import { LongText } from '../tool-calls/long-text.tsx';
import type { Tool } from './turn.ts';

/** The maximum number of tool calls listed individually. Beyond it, the list is collapsed, and running calls stay below it. */
const MAX_OPEN = 6;

/** Tool calls that follow one another, while they run and afterwards. */
export function Tools({ tools }: { tools: Tool[] }) {
  if (tools.length <= MAX_OPEN) return <Chips tools={tools} />;
  const failed = tools.filter(({ status }) => status === 'FAILED').length;
  const open = tools.filter(({ status }) => status === 'RUNNING' || status === 'WAITING');
  return (
    <>
      <details className="tools">
        <summary>
          {tools.length.toLocaleString('en')} tool calls
          {failed > 0 && `, ${failed.toLocaleString('en')} failed`}
        </summary>
        <Chips tools={tools} />
      </details>
      {open.length > 0 && <Chips tools={open.slice(-MAX_OPEN)} />}
    </>
  );
}

function Chips({ tools }: { tools: Tool[] }) {
  return (
    <ul className="tool-list" aria-label="Tool calls">
      {tools.map((tool) =>
        tool.result === undefined && (tool.input ?? undefined) === undefined ? (
          <li key={tool.callId} className="chip">
            <ToolChip tool={tool} />
          </li>
        ) : (
          <li key={tool.callId}>
            <KnownTool tool={tool} />
          </li>
        ),
      )}
    </ul>
  );
}

/** The name of a call, and its state as text unless it succeeded. */
function ToolChip({ tool: { name, status, ms } }: { tool: Tool }) {
  const { word, icon, tone } = status
    ? TOOL_STATUSES[status]
    : ({ word: '', icon: 'dots', tone: 'off' } as const);
  return (
    <Status icon={icon} tone={tone}>
      <span className="mono">{name}</span>
      {status !== 'COMPLETED' && ` ${word}`}
      {ms !== undefined && status !== 'WAITING' && ` ${duration(ms)}`}
    </Status>
  );
}

/** A tool call that opens its input and its result. */
function KnownTool({ tool }: { tool: Tool }) {
  const { name, status, input, result } = tool;
  const [isOpen, setOpen] = useState(false);
  return (
    <details className="tool-result" onToggle={({ currentTarget: { open } }) => setOpen(open)}>
      <summary className="chip chip-button">
        <ToolChip tool={tool} />
      </summary>
      {isOpen && (
        <>
          {input != null && (
            <>
              <p className="tool-part">Input</p>
              <LongText label={`Input of ${name}`} text={JSON.stringify(input)} />
            </>
          )}
          {result !== undefined && (
            <>
              <p className="tool-part">{isFailedCall(status) ? 'Error' : 'Result'}</p>
              <LongText label={`Result of ${name}`} text={result} />
            </>
          )}
        </>
      )}
    </details>
  );
}
