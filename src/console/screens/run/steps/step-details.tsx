import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { CodeBlock } from '../../../parts/copy.tsx';
import { Status } from '../../../parts/status.tsx';
import { duration } from '../../../parts/time.tsx';
import { RunPrompt } from '../../../prompt/run-prompt.tsx';
import { isRecord } from '../../../server/record.ts';
import { useScope } from '../../../server/viewer.ts';
import { TOOL_STATUSES } from '../../../tool-calls/labels.ts';
import { LongText } from '../../../tool-calls/long-text.tsx';
import { ToolCallDetails, type ToolCallRecord } from '../../../tool-calls/tool-call-details.tsx';
import type { SpanRow } from '../../../trace/span-row.ts';
import { SpanAttributes } from '../span-details.tsx';
import type { ShownRun } from '../use-run.ts';
import { callsAfter, callsBefore } from './step-rows.ts';
import './steps.css';
import { callOf } from './use-tool-calls.ts';

type StepProps = {
  run: ShownRun;
  row: SpanRow;
  rows: readonly SpanRow[];
  calls: readonly ToolCallRecord[];
  onSelect(id: string): void;
};

/** A step of a run: what went in, what came out, and the attributes of its span. */
export function StepDetails(props: StepProps) {
  const { row, calls } = props;
  const { label, kind, detail, ms, attributes } = row;
  const call = kind === 'tool' ? callOf(row, calls) : undefined;
  const facts = [
    kind === 'model' && detail,
    call?.httpStatus && `HTTP ${call.httpStatus}`,
    ms !== undefined && duration(ms),
  ];
  return (
    <section className="step" aria-label="Selected step" tabIndex={-1}>
      <header>
        <h2 className={kind === 'tool' ? 'mono' : undefined}>{label}</h2>
        <StepStatus row={row} call={call} />
        <span className="soft number">{facts.filter(Boolean).join(' · ')}</span>
      </header>
      {call ? <ToolStep {...props} call={call} /> : <OtherStep {...props} />}
      {attributes && (
        <details className="step-attributes">
          <summary>Attributes of the span</summary>
          <SpanAttributes row={row} />
        </details>
      )}
    </section>
  );
}

function StepStatus({
  row: { hasFailed, ms },
  call,
}: {
  row: SpanRow;
  call?: ToolCallRecord | undefined;
}) {
  if (call) {
    const { word, icon, tone } = TOOL_STATUSES[call.status];
    return (
      <Status icon={icon} tone={tone}>
        {word}
      </Status>
    );
  }
  if (hasFailed)
    return (
      <Status icon="warning" tone="bad">
        failed
      </Status>
    );
  if (ms === undefined)
    return (
      <Status icon="dashed" tone="live">
        running
      </Status>
    );
  return (
    <Status icon="check" tone="good">
      completed
    </Status>
  );
}

function ToolStep({ run: { bot }, call }: StepProps & { call: ToolCallRecord }) {
  const mayDecide = useScope('APPROVE');
  const isDecided = ['DENIED', 'EXPIRED'].includes(call.status);
  return (
    <ToolCallDetails call={call}>
      {mayDecide && (isDecided || call.status === 'WAITING') && (
        <p>
          <Link href={`/bots/${bot.id}/approvals/${call.id}`}>
            {isDecided ? 'Show the approval' : 'Decide in Approvals'}
          </Link>
        </p>
      )}
    </ToolCallDetails>
  );
}

function OtherStep(props: StepProps) {
  const { run, row } = props;
  switch (row.kind) {
    case 'model':
      return <ModelStep {...props} />;
    case 'history':
      return <RunPrompt run={run} kinds={['history']} />;
    case 'memory':
      return <RunPrompt run={run} kinds={['memory']} />;
    case 'context':
      return <RunPrompt run={run} kinds={['context']} />;
    case 'tool':
      return <p className="faint run-note">Its input and result are not stored.</p>;
    case 'run':
      return <WholeStep {...props} />;
    case 'step':
      return null;
  }
}

/** The request and the reply of the run as a whole. */
function WholeStep({ run: { input, context, response, error } }: StepProps) {
  return (
    <>
      <Part title="Input">
        <LongText label="Message" text={input} />
        {isRecord(context) && (
          <CodeBlock label="Context of the message">{JSON.stringify(context, null, 2)}</CodeBlock>
        )}
      </Part>
      <Part title={error ? 'Error' : 'Output'}>
        {error ? (
          <p>{error.message}</p>
        ) : response ? (
          <LongText label="Reply" text={response} />
        ) : (
          <p className="faint">Nothing yet.</p>
        )}
      </Part>
    </>
  );
}

/** What the model was sent, by part, and what it answered: tool calls or the reply. */
function ModelStep({ run, row, rows, calls, onSelect }: StepProps) {
  const first = rows.find(({ kind }) => kind === 'model');
  const before = callsBefore(rows, row);
  const after = callsAfter(rows, row);
  const isLast = !rows.slice(rows.indexOf(row) + 1).some(({ kind }) => kind === 'model');
  const tokens = numberOf(row, 'gen_ai.usage.input_tokens');
  const output = numberOf(row, 'gen_ai.usage.output_tokens');
  return (
    <>
      <Part title="Input" note={tokens && `${tokens.toLocaleString('en')} tokens`}>
        {row === first || !first ? (
          <RunPrompt run={run} tokens={tokens} />
        ) : (
          <p>
            The same parts as{' '}
            <button type="button" className="step-link" onClick={() => onSelect(first.id)}>
              {first.label}
            </button>
            {before.length > 0 && ', and these tool calls with their results:'}
          </p>
        )}
        {row !== first && <CallList rows={before} calls={calls} onSelect={onSelect} withResults />}
      </Part>
      <Part title="Output" note={output && `${output.toLocaleString('en')} tokens`}>
        {after.length > 0 && <CallList rows={after} calls={calls} onSelect={onSelect} />}
        {isLast && run.response ? <LongText label="Reply" text={run.response} /> : null}
        {after.length === 0 && !(isLast && run.response) && (
          <p className="faint">
            {row.hasFailed ? 'The model server answered no text.' : 'No text is stored.'}
          </p>
        )}
      </Part>
    </>
  );
}

function CallList({
  rows,
  calls,
  onSelect,
  withResults = false,
}: Pick<StepProps, 'rows' | 'calls' | 'onSelect'> & { withResults?: boolean }) {
  if (rows.length === 0) return null;
  return (
    <ul className="step-calls">
      {rows.map((row) => {
        const call = callOf(row, calls);
        const text = withResults ? call?.result : call && JSON.stringify(call.arguments);
        return (
          <li key={row.id}>
            <button type="button" className="step-link mono" onClick={() => onSelect(row.id)}>
              {row.label}
            </button>{' '}
            <span className="mono soft cut">{text?.slice(0, 400)}</span>
          </li>
        );
      })}
    </ul>
  );
}

function numberOf({ attributes }: SpanRow, name: string): number | undefined {
  const value = attributes?.[name];
  return typeof value === 'number' ? value : undefined;
}

function Part({
  title,
  note,
  children,
}: {
  title: string;
  note?: string | 0 | undefined;
  children: ReactNode;
}) {
  return (
    <section className="step-part" aria-label={title}>
      <header>
        <h3>{title}</h3>
        {note && <span className="soft number">{note}</span>}
      </header>
      {children}
    </section>
  );
}
