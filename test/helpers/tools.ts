import type { Tool, ToolContext } from '../../src/agent/tools/tool.ts';
import type { Ledger } from '../../src/runs/tool-calls/ledger.ts';
import type { ToolCallRecord } from '../../src/runs/tool-calls/tool-call.ts';

/** Prepares a call and sends it. @returns the text for the model. */
export async function callTool(tool: Tool, input: unknown, context: ToolContext): Promise<string> {
  const { text } = await tool.prepare(input, context).send();
  return text;
}

/** A ledger in memory, without calls of earlier attempts. */
export function createTestLedger(): Omit<Ledger, 'unstored'> & { records: ToolCallRecord[] } {
  const records: ToolCallRecord[] = [];
  return {
    records,
    earlier: () => undefined,
    open(call) {
      const record: ToolCallRecord = {
        ...call,
        id: `tcl_${records.length}`,
        position: records.length,
        request: null,
        status: 'RUNNING',
        result: null,
        httpStatus: null,
        idempotencyKey: null,
        startedAt: 0,
        finishedAt: null,
      };
      records.push(record);
      return record;
    },
    async writeAhead(record, request) {
      Object.assign(record, { request, idempotencyKey: record.id });
    },
    async ask(record) {
      record.status = 'WAITING';
      return 'asked';
    },
    async finish(record, end) {
      Object.assign(record, end);
    },
  };
}
