import { setImmediate } from 'node:timers/promises';
import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import type { MessageRole, PrismaClient, Run } from '../generated/prisma/client.ts';
import type { Redactor } from '../redaction/redact.ts';
import { type PromptRecord, readPromptRecord } from '../runs/record/prompt-record.ts';
import { readRequestHistory } from '../sessions/history.ts';
import { isJsonObject } from '../text/json.ts';
import { systemPrompt } from './prompt.ts';
import { schemaOfFields } from './tools/input.ts';

/** The steps of a chat, by their names in the trace. */
export type PromptStep = 'load_history' | 'inject_memory' | 'merge_context' | 'send_to_model';

/** A part of the first model call. */
export type PromptPart = {
  /** The step that added the part. */
  step: PromptStep;
  role: 'SYSTEM' | MessageRole;
  text: string;
  /** Whether the part is of the definition's source, which has a scope of its own. */
  isSource: boolean;
};

/** The parts of a run's first request to the model, in their order. */
export type SentPrompt = {
  parts: PromptPart[];
  /** Whether all parts are still stored. */
  complete: boolean;
};

/** Reads what a run sent to the model. */
export type SentPrompts = {
  /**
   * Assembles the prompt of a run from its references, without the values of the deployment's variables. Long texts are
   * redacted in pieces, so that other requests run in between.
   *
   * @returns `null` if the run stored no prompt, or the prompt has been deleted.
   */
  read(runId: string): Promise<SentPrompt | null>;
};

/** Bytes of history that one read returns at most: the last messages that fit. */
const MAX_HISTORY_BYTES = 1024 * 1024;
/** UTF-16 code units that are redacted without a turn of the event loop. */
const PIECE = 16 * 1024;

export function createSentPrompts({
  prisma,
  activeDeployments,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
}): SentPrompts {
  const readHistory = async ({ history }: PromptRecord): Promise<PromptPart[]> => {
    if (!history) return [];
    const rows = await prisma.$queryRaw<{ role: MessageRole; text: string }[]>`
      SELECT role, text FROM (
        SELECT turn, position, role, text,
          sum(octet_length(text)) OVER (ORDER BY turn DESC, position DESC) AS bytes
        FROM (
          SELECT turn, position, role, text FROM messages
          WHERE session_key = ${history.session} AND turn <= ${history.turn}
          ORDER BY turn DESC, position DESC LIMIT ${history.messages}
        ) AS latest
      ) AS sent
      WHERE bytes <= ${MAX_HISTORY_BYTES} ORDER BY turn, position`;
    return rows.map(({ role, text }) => ({ step: 'load_history', role, text, isSource: false }));
  };

  return {
    async read(runId) {
      const run = await prisma.run.findFirst({
        where: { id: runId, prompt: { isNot: null } },
        select: {
          input: true,
          context: true,
          history: true,
          sessionId: true,
          deploymentId: true,
          prompt: { select: { prompt: true } },
        },
      });
      if (!run?.prompt) return null;
      const record = readPromptRecord(run.prompt.prompt);
      const id = run.deploymentId ?? '';
      const deployment = (await activeDeployments.loadAll(id ? [id] : [])).get(id);
      const history = await readHistory(record);
      const parts = partsOf(record, run, deployment, history);
      const isWhole = history.length === (record.history?.messages ?? 0);
      const hasSource = deployment !== undefined || record.draft !== undefined;
      return {
        parts: deployment ? await redacted(parts, deployment.redactor) : parts,
        complete: isWhole && hasSource && !record.hasMoreFacts,
      };
    },
  };
}

function partsOf(
  record: PromptRecord,
  run: StoredRun,
  deployment: RunningDeployment | undefined,
  history: PromptPart[],
): PromptPart[] {
  const texts = textsOf(record, run, deployment);
  return [
    ...system('send_to_model', texts.prompt, true),
    ...system('send_to_model', texts.output),
    ...system('inject_memory', texts.memory),
    ...system('merge_context', texts.context),
    ...history,
    ...ownHistory(record, run),
    { step: 'send_to_model', role: 'USER', text: run.input, isSource: false },
  ];
}

/** The messages of the request that were sent before its own. */
function ownHistory({ ownHistory: sent }: PromptRecord, { history }: StoredRun): PromptPart[] {
  const messages = readRequestHistory(history) ?? [];
  return messages
    .slice(messages.length - (sent ?? messages.length))
    .map(({ role, text }) => ({ step: 'send_to_model', role, text, isSource: false }));
}

/** Redacts parts with a turn of the event loop after each `PIECE`. */
async function redacted(parts: PromptPart[], redactor: Redactor): Promise<PromptPart[]> {
  const shown: PromptPart[] = [];
  const stream = redactor.stream();
  let left = PIECE;
  for (const part of parts) {
    let text = '';
    for (let start = 0; start < part.text.length; ) {
      const piece = part.text.slice(start, start + left);
      text += stream.push(piece);
      start += piece.length;
      left -= piece.length;
      if (left > 0) continue;
      await setImmediate();
      left = PIECE;
    }
    shown.push({ ...part, text: text + stream.end() });
  }
  return shown;
}

function system(step: PromptStep, text: string, isSource = false): PromptPart[] {
  return text === '' ? [] : [{ step, role: 'SYSTEM', text, isSource }];
}

type StoredRun = Pick<Run, 'context' | 'history' | 'sessionId' | 'input'>;

function textsOf(
  { now, facts = {}, outputSchema, draft = '' }: PromptRecord,
  { context, sessionId }: StoredRun,
  deployment: RunningDeployment | undefined,
) {
  const values = {
    context: isJsonObject(context) ? context : {},
    memory: facts,
    session: sessionId === null ? {} : { id: sessionId },
    now,
  };
  const definition = deployment?.definition;
  const own = definition?.output && schemaOfFields(definition.output);
  const texts = systemPrompt(definition ?? { prompt: [] }, values, outputSchema ?? own);
  return definition ? texts : { ...texts, prompt: draft };
}
