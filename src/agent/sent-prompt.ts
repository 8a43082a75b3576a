import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import type { MessageRole, Prisma, PrismaClient } from '../generated/prisma/client.ts';
import { isJsonObject } from '../json.ts';
import { type PromptRecord, readPromptRecord } from '../runs/prompt-record.ts';
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

/** What a run sent to the model at first, in the order of the message. */
export type SentPrompt = {
  parts: PromptPart[];
  /** Whether all parts are still stored. */
  complete: boolean;
};

/** Reads what runs sent to the model. */
export type SentPrompts = {
  /**
   * Assembles the prompt of a run from what it refers to, without the values of the deployment's variables.
   *
   * @returns `null` if the run stored none, or it has been deleted.
   */
  read(runId: string): Promise<SentPrompt | null>;
};

/** Bytes of history that one read returns: the last messages that fit. */
const MAX_HISTORY_BYTES = 1024 * 1024;

export function createSentPrompts({
  prisma,
  activeDeployments,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'load'>;
}): SentPrompts {
  const historyOf = async ({ history }: PromptRecord): Promise<PromptPart[]> => {
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
      ) AS measured
      WHERE bytes <= ${MAX_HISTORY_BYTES} ORDER BY turn, position`;
    return rows.map((row) => ({ ...row, step: 'load_history' as const, isSource: false }));
  };

  const system = (step: PromptStep, text: string, isSource = false): PromptPart[] =>
    text === '' ? [] : [{ step, role: 'SYSTEM', text, isSource }];

  return {
    async read(runId) {
      const run = await prisma.run.findUnique({
        where: { id: runId },
        select: {
          input: true,
          context: true,
          sessionId: true,
          deploymentId: true,
          prompt: { select: { prompt: true } },
        },
      });
      if (!run?.prompt) return null;
      const record = readPromptRecord(run.prompt.prompt);
      const deployment = run.deploymentId
        ? await activeDeployments.load(run.deploymentId)
        : undefined;
      const texts = textsOf(record, run, deployment);
      const history = await historyOf(record);
      const parts: PromptPart[] = [
        ...system('send_to_model', texts.prompt, true),
        ...system('send_to_model', texts.output),
        ...system('inject_memory', texts.memory),
        ...system('merge_context', texts.context),
        ...history,
        { step: 'send_to_model', role: 'USER', text: run.input, isSource: false },
      ];
      const redacted = deployment
        ? parts.map((part) => ({ ...part, text: deployment.redactor.redact(part.text) }))
        : parts;
      const isWhole = history.length === (record.history?.messages ?? 0);
      const hasSource = deployment !== undefined || record.draft !== undefined;
      return { parts: redacted, complete: isWhole && hasSource && !record.hasMoreFacts };
    },
  };
}

type StoredRun = { context: Prisma.JsonValue; sessionId: string | null };

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
