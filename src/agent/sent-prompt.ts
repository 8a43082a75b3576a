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

/** The parts of a run's first request to the model, in their order. */
export type SentPrompt = {
  parts: PromptPart[];
  /** Whether all parts are still stored. */
  complete: boolean;
};

/** Reads what runs sent to the model. */
export type SentPrompts = {
  /**
   * Assembles the prompts of runs from their references, without the values of the deployments' variables. The number of
   * statements does not depend on the number of runs.
   *
   * @returns a lookup by the run's id. It returns `null` if the run stored no prompt, or the prompt has been deleted.
   */
  read(runIds: string[]): Promise<(runId: string) => SentPrompt | null>;
};

/** Bytes of history that one read returns at most, shared equally by its runs: the last messages that fit. */
const MAX_HISTORY_BYTES = 4 * 1024 * 1024;
/** Bytes of history of one run. */
const MAX_RUN_HISTORY_BYTES = 1024 * 1024;

export function createSentPrompts({
  prisma,
  activeDeployments,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'loadAll'>;
}): SentPrompts {
  /** The messages of history by the run's id. */
  const historiesOf = async (runs: RecordedRun[]): Promise<Map<string, PromptPart[]>> => {
    const requested = runs.flatMap(({ id, record }) =>
      record.history ? [{ id, ...record.history }] : [],
    );
    const bytes = Math.min(MAX_RUN_HISTORY_BYTES, Math.floor(MAX_HISTORY_BYTES / runs.length));
    const rows = await prisma.$queryRaw<{ id: string; role: MessageRole; text: string }[]>`
      SELECT run.id, sent.role, sent.text
      FROM json_to_recordset(${JSON.stringify(requested)}::json)
        AS run (id text, session text, turn int, messages int)
      CROSS JOIN LATERAL (
        SELECT turn, position, role, text,
          sum(octet_length(text)) OVER (ORDER BY turn DESC, position DESC) AS bytes
        FROM (
          SELECT turn, position, role, text FROM messages
          WHERE session_key = run.session AND messages.turn <= run.turn
          ORDER BY turn DESC, position DESC LIMIT run.messages
        ) AS latest
      ) AS sent
      WHERE sent.bytes <= ${bytes} ORDER BY run.id, sent.turn, sent.position`;
    const partOf = ({ role, text }: (typeof rows)[number]): PromptPart => ({
      step: 'load_history',
      role,
      text,
      isSource: false,
    });
    return new Map(
      [...Map.groupBy(rows, ({ id }) => id)].map(([id, own]) => [id, own.map(partOf)]),
    );
  };

  return {
    async read(runIds) {
      const stored = await prisma.run.findMany({
        where: { id: { in: runIds }, prompt: { isNot: null } },
        select: {
          id: true,
          input: true,
          context: true,
          sessionId: true,
          deploymentId: true,
          prompt: { select: { prompt: true } },
        },
      });
      if (stored.length === 0) return () => null;
      const runs = stored.flatMap(({ prompt, ...run }) =>
        prompt ? [{ ...run, record: readPromptRecord(prompt.prompt) }] : [],
      );
      const deploymentIds = new Set(runs.flatMap(({ deploymentId }) => deploymentId ?? []));
      const deployments = await activeDeployments.loadAll([...deploymentIds]);
      const histories = await historiesOf(runs);
      const prompts = new Map(
        runs.map((run) => {
          const deployment = deployments.get(run.deploymentId ?? '');
          return [run.id, promptOf(run, deployment, histories.get(run.id) ?? [])];
        }),
      );
      return (runId) => prompts.get(runId) ?? null;
    },
  };
}

function promptOf(
  run: RecordedRun,
  deployment: RunningDeployment | undefined,
  history: PromptPart[],
): SentPrompt {
  const { record } = run;
  const texts = textsOf(record, run, deployment);
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
}

function system(step: PromptStep, text: string, isSource = false): PromptPart[] {
  return text === '' ? [] : [{ step, role: 'SYSTEM', text, isSource }];
}

type StoredRun = { context: Prisma.JsonValue; sessionId: string | null };
type RecordedRun = StoredRun & { id: string; input: string; record: PromptRecord };

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
