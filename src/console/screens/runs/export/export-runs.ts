import {
  type ExportFormat,
  RunExport,
  type RunFilter,
} from '../../../../generated/operations/console.ts';
import { ChatProblem, chatProblem } from '../../../server/chat-problem.ts';
import { subscribe } from '../../../server/follow.ts';
import { AWAY, type Problem } from '../../../server/problem.ts';
import { FileProblem, type FileTarget } from './file-target.ts';

export type ExportRequest = { botId: string; filter: RunFilter; format: ExportFormat };

/** The content of a file so far. */
export type Progress = { rows: number; bytes: number };

export type ExportEnd =
  | { kind: 'done'; file: string; isTruncated: boolean }
  | { kind: 'cancelled' }
  /** `file`: the name of the partial file, if one could be kept. */
  | { kind: 'failed'; file: string | undefined; message: string; problem?: Problem };

/**
 * Writes the runs that match to a file, part by part. An error in the middle keeps the written part; the signal leaves no
 * file behind.
 */
export async function exportRuns(
  request: ExportRequest,
  target: FileTarget,
  { signal, onProgress }: { signal: AbortSignal; onProgress(progress: Progress): void },
): Promise<ExportEnd> {
  let progress = { rows: 0, bytes: 0 };
  try {
    const results = (await subscribe(RunExport, request, { signal })) ?? [];
    for await (const {
      data: { part },
    } of results) {
      await target.write(part.text);
      progress = { rows: part.rows, bytes: progress.bytes + new Blob([part.text]).size };
      onProgress(progress);
      if (part.done)
        return { kind: 'done', file: await target.close(), isTruncated: part.truncated };
    }
    // The server ended the stream without its last part.
    if (!signal.aborted) throw new ChatProblem(AWAY);
    await target.discard();
    return { kind: 'cancelled' };
  } catch (error) {
    if (signal.aborted) {
      await target.discard();
      return { kind: 'cancelled' };
    }
    return failed(error, target, progress);
  }
}

async function failed(error: unknown, target: FileTarget, { rows }: Progress): Promise<ExportEnd> {
  const problem = error instanceof FileProblem ? undefined : chatProblem(error).problem;
  const message = error instanceof FileProblem ? error.message : (problem?.message ?? '');
  if (rows === 0) await target.discard().catch(() => {});
  const file = rows > 0 ? await target.keepPartial().catch(() => undefined) : undefined;
  return { kind: 'failed', file, message, ...(problem && { problem }) };
}
