import type { ReactNode } from 'react';
import type { ToolCallRecordFragment } from '../../generated/operations/console.ts';
import { Id } from '../parts/copy.tsx';
import { Pair, Pairs } from '../parts/pairs.tsx';
import { duration, LocalTime } from '../parts/time.tsx';
import { isFailedCall, TOOL_STATUSES } from './labels.ts';
import { LongText } from './long-text.tsx';
import './tool-calls.css';

export type ToolCallRecord = ToolCallRecordFragment;

/** A tool call in full: its input, its request, its result and its facts. */
export function ToolCallDetails({
  call,
  isShownInPart = false,
  children,
}: {
  call: ToolCallRecord;
  /** Whether the input and the request stand elsewhere. */
  isShownInPart?: boolean;
  /** Links that belong to the call. */
  children?: ReactNode;
}) {
  const { id, name, request, status, result, httpStatus, idempotencyKey, startedAt } = call;
  const { durationMs } = call;
  const { explanation } = TOOL_STATUSES[status];
  const input = isShownInPart ? null : call.arguments;
  const isStored = call.arguments !== null || result !== null;
  return (
    <div className="tool-call-details">
      {explanation && <p className="tool-call-note">{explanation}</p>}
      {!isStored && (
        <p className="tool-call-note faint">
          The input and the result of this call are no longer stored.
        </p>
      )}
      {input !== null && (
        <Part title="Input">
          <LongText label={`Input of ${name}`} text={JSON.stringify(input)} />
        </Part>
      )}
      {request && !isShownInPart && (
        <Part title="Request">
          <p className="tool-call-request mono">
            <strong>{request.method}</strong> {request.url}
          </p>
          {request.body !== null && (
            <LongText label={`Body of the request of ${name}`} text={request.body} />
          )}
        </Part>
      )}
      {result !== null && (
        <Part title={isFailedCall(status) ? 'Error' : 'Result'}>
          <LongText label={`Result of ${name}`} text={result} />
        </Part>
      )}
      <Pairs>
        {httpStatus !== null && <Pair name="HTTP status">{httpStatus}</Pair>}
        {durationMs !== null && <Pair name="Duration">{duration(durationMs)}</Pair>}
        <Pair name="Called">
          <LocalTime at={startedAt} />
        </Pair>
        {idempotencyKey && (
          <Pair name="Idempotency key">
            <Id>{idempotencyKey}</Id>
          </Pair>
        )}
        <Pair name="Call">
          <Id>{id}</Id>
        </Pair>
      </Pairs>
      {children}
    </div>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="tool-call-part">
      <h3>{title}</h3>
      {children}
    </section>
  );
}
