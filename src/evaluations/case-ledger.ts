import type { Ledger } from '../runs/tool-calls/ledger.ts';
import type { ToolCallRecord } from '../runs/tool-calls/tool-call.ts';
import type { Span, Trace } from '../runs/trace/trace.ts';
import type { MadeCall } from './case-result.ts';

/** Records the calls of a case in memory. */
export function createCaseLedger(): {
  ledger: Omit<Ledger, 'unstored'>;
  calls(): MadeCall[];
} {
  const records: ToolCallRecord[] = [];
  return {
    ledger: {
      earlier: () => undefined,
      open(call) {
        const record: ToolCallRecord = {
          ...call,
          id: `${records.length}`,
          position: records.length,
          request: null,
          status: 'RUNNING',
          result: null,
          httpStatus: null,
          idempotencyKey: null,
          startedAt: Date.now(),
          finishedAt: null,
        };
        records.push(record);
        return record;
      },
      writeAhead: async () => {},
      ask: async () => 'draft',
      async finish(record, { status, result }) {
        Object.assign(record, { status, result, finishedAt: Date.now() });
      },
    },
    calls: () =>
      records.map(({ name, digest, arguments: text, status, result }) => ({
        name,
        digest,
        arguments: text ?? '{}',
        result: result ?? '',
        failed: status !== 'COMPLETED',
      })),
  };
}

const SILENT: Span = {
  begin: () => SILENT,
  step: async (_name, work) => work(SILENT),
  set: () => {},
  end: () => {},
};

/** The trace of a case, which nobody reads. */
export const NO_TRACE: Pick<Trace, 'begin' | 'step'> = SILENT;
