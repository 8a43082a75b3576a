import { OWNER_SCOPES } from '../../../src/accounts/accounts.ts';
import { newApiKey } from '../../../src/accounts/new-key.ts';
import type { EnvironmentCipher } from '../../../src/deployments/environment.ts';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { makeId } from '../../../src/text/ids.ts';
import {
  BOTS,
  CONTEXT,
  CONTROL,
  DEPLOY_MESSAGE,
  DIAGNOSTICS,
  DISPLAY_NAME,
  ERROR_DETAIL,
  ERROR_MESSAGE,
  EVALUATION_TEXT,
  FACT,
  FACTS,
  FINISH_REASON,
  INPUT,
  KEYS,
  KIBIBYTE,
  long,
  MEBIBYTE,
  METADATA,
  MODEL_NAME,
  NOTE,
  ORIGIN_LIST,
  PROBLEM,
  RATINGS,
  REASON,
  RESPONSE_LENGTH,
  SESSION_ID,
  SOURCE,
  SPAN,
  SPANS,
  TOOL_ARGUMENTS,
  TOOL_NAMES,
  TOOL_REQUEST,
  TOOL_RESULT,
  TOOLS,
  VARIABLE_NAMES,
} from './longest-values.ts';

const DEPLOYMENTS = 100;
const DEPLOYMENTS_OF_OTHERS = 3;
const RUNS = 100;
const SESSIONS = 100;
const FACT_SESSIONS = 20;
const MESSAGES = 200;
const AUDIT_ENTRIES = 500;
/** Runs with a reply of the longest length; others of the first bot have only their other texts at the longest. */
const LONGEST_RUNS = 5;

const sessionKey = (index: number) => `ses_${String(index).padStart(26, '0')}`;

/** Fills a migrated database with the account. Its first bot has the longest texts; the others have as many rows. */
export async function fillHeavyAccount(
  prisma: PrismaClient,
  cipher: EnvironmentCipher,
  apiKey: string,
): Promise<void> {
  const accountId = makeId('acc');
  await prisma.account.create({
    data: {
      id: accountId,
      name: DISPLAY_NAME,
      plan: 'ENTERPRISE',
      requestsPerMinute: 2e9,
      requestsPerDay: 2e9,
    },
  });
  // Lists begin with the newest.
  const botIds = Array.from({ length: BOTS }, (_, index) => `heavy-${index}`);
  await prisma.bot.createMany({
    data: botIds.map((id, index) => ({
      id,
      accountId,
      name: DISPLAY_NAME,
      webOrigins: ORIGIN_LIST,
      createdAt: new Date(Date.now() - index * 1_000),
    })),
  });
  const keyIds = await fillKeys(prisma, accountId, apiKey, botIds);
  const deploymentIds = await fillDeployments(prisma, cipher, botIds, keyIds[0] ?? '');
  await fillRuns(prisma, botIds, deploymentIds, keyIds);
  await fillSessions(prisma, botIds[0] ?? '');
  await makeEvaluation(prisma, botIds[0] ?? '', accountId);
  await prisma.auditEntry.createMany({
    data: Array.from({ length: AUDIT_ENTRIES }, (_, index) => ({
      id: makeId('aud'),
      accountId,
      action: 'ROTATE_API_KEY' as const,
      keyId: keyIds[0] ?? '',
      botId: botIds[0] ?? '',
      targetId: makeId('ses'),
      createdAt: new Date(Date.now() - index),
    })),
  });
}

/** @returns the ids of the keys; the first is the id of `apiKey`. */
async function fillKeys(
  prisma: PrismaClient,
  accountId: string,
  apiKey: string,
  botIds: string[],
): Promise<string[]> {
  const scopes = OWNER_SCOPES;
  const first = newApiKey(accountId, apiKey, { name: DISPLAY_NAME, scopes });
  await prisma.apiKey.create({ data: first });
  const others = Array.from({ length: KEYS - 1 }, (_, index) => ({
    ...newApiKey(accountId, `${apiKey}${index}`, { name: DISPLAY_NAME, scopes, botIds }),
    createdById: first.id,
  }));
  await prisma.apiKey.createMany({ data: others });
  return [first.id, ...others.map(({ id }) => id)];
}

/** @returns the id of the active deployment of each bot. */
async function fillDeployments(
  prisma: PrismaClient,
  cipher: EnvironmentCipher,
  botIds: string[],
  keyId: string,
): Promise<string[]> {
  const environment = 'PRODUCTION';
  const variables = Object.fromEntries(VARIABLE_NAMES.map((name) => [name, long(320, 'v')]));
  const active: string[] = [];
  for (const [bot, botId] of botIds.entries()) {
    const count = bot === 0 ? DEPLOYMENTS : DEPLOYMENTS_OF_OTHERS;
    const ids = Array.from({ length: count }, () => makeId('dep'));
    const activeId = ids.at(-1) ?? '';
    await prisma.$executeRaw`
      INSERT INTO deployments (id, bot_id, environment, status, message, source, env_names, env_vars, channels, diagnostics,
        version, previous_id, rolled_back_to_id, key_id, sent_env_names, created_at, deployed_at)
      SELECT id, ${botId}, 'PRODUCTION', 'DEPLOYED', ${DEPLOY_MESSAGE}, ${SOURCE}, ${VARIABLE_NAMES},
        CASE id WHEN ${activeId} THEN ${cipher.encrypt(activeId, variables)}::bytea END, '{WEB}', ${JSON.stringify(DIAGNOSTICS)}::jsonb,
        place, lag(id) OVER (ORDER BY place), lag(id) OVER (ORDER BY place), ${keyId}, ${VARIABLE_NAMES},
        now() - (${count}::int - place) * interval '1 second', now()
      FROM unnest(${ids}::text[]) WITH ORDINALITY AS deployment (id, place)`;
    await prisma.$executeRaw`
      INSERT INTO channel_states (deployment_id, channel, bot_id, environment, status, problem)
      SELECT id, 'TELEGRAM', ${botId}, 'PRODUCTION', 'UNAVAILABLE', ${PROBLEM} FROM unnest(${ids}::text[]) AS id`;
    active.push(activeId);
  }
  await prisma.activeDeployment.createMany({
    data: botIds.map((botId, bot) => ({ botId, environment, deploymentId: active[bot] ?? '' })),
  });
  return active;
}

/** The runs of the first bot have the longest texts. The others have their short columns at their longest. */
async function fillRuns(
  prisma: PrismaClient,
  botIds: string[],
  deploymentIds: string[],
  keyIds: string[],
): Promise<void> {
  const spans = JSON.stringify(Array.from({ length: SPANS }, () => SPAN));
  const prompt = JSON.stringify({
    now: new Date().toISOString(),
    history: { session: sessionKey(0), turn: MESSAGES, messages: 500 },
    facts: { fact: long(60 * KIBIBYTE, '"') },
  });
  for (const [bot, botId] of botIds.entries()) {
    const ids = Array.from({ length: RUNS }, () => makeId('run'));
    const isLong = bot === 0;
    await prisma.$executeRaw`
      INSERT INTO runs (id, bot_id, deployment_id, environment, kind, status, channel, session_id, input, context, response,
        output, error_code, error_message, error_detail, finish_reason, model, metadata, created_at, started_at, finished_at, latency_ms, prompt_tokens,
        completion_tokens, tools_called, trace_id, spans, events, event_times, key_id)
      SELECT id, ${botId}, ${deploymentIds[bot] ?? ''}, 'PRODUCTION', 'CHAT', 'FAILED', 'API', ${SESSION_ID},
        ${isLong ? INPUT : long(200, '"')}, ${isLong ? JSON.stringify(CONTEXT) : '{}'}::jsonb,
        repeat(${CONTROL}, CASE WHEN place > ${isLong ? LONGEST_RUNS : 0} THEN 200 ELSE ${RESPONSE_LENGTH}::int END),
        jsonb_build_object('text', repeat('"', CASE WHEN place > ${isLong ? LONGEST_RUNS : 0} THEN 10 ELSE ${RESPONSE_LENGTH / 2}::int END)),
        'model_error', ${ERROR_MESSAGE}, ${ERROR_DETAIL}, ${FINISH_REASON}, ${MODEL_NAME}, ${JSON.stringify(isLong ? METADATA : {})}::jsonb,
        now() - place * interval '1 second', now(), now(), 1000, 1000, 1000,
        ${TOOL_NAMES}, repeat('a', 32), ${isLong ? spans : '[]'}::jsonb,
        ${isLong ? JSON.stringify(eventsOf(RESPONSE_LENGTH)) : '[]'}::jsonb, '{}', ${keyIds[bot] ?? ''}
      FROM unnest(${ids}::text[]) WITH ORDINALITY AS run (id, place)`;
    if (isLong) await fillToolCalls(prisma, botId, ids[0] ?? '', deploymentIds[bot] ?? '');
    const prompts = isLong ? ids : ids.slice(0, 1);
    await prisma.$executeRaw`
      INSERT INTO run_prompts (run_id, prompt)
      SELECT id, ${prompt}::jsonb FROM unnest(${prompts}::text[]) AS run (id)`;
    if (bot > 5) continue;
    await prisma.$executeRaw`
      INSERT INTO feedback (run_id, author, bot_id, rating, note, run_created_at)
      SELECT runs.id, author, bot_id, 'DOWN', ${NOTE}, runs.created_at
      FROM runs CROSS JOIN unnest(${keyIds.slice(0, RATINGS)}::text[]) AS author WHERE bot_id = ${botId}`;
  }
}

/** The first run has as many tool calls as a run makes, each of which a person has decided. */
async function fillToolCalls(
  prisma: PrismaClient,
  botId: string,
  runId: string,
  deploymentId: string,
): Promise<void> {
  const ids = Array.from({ length: TOOLS }, () => makeId('tcl'));
  const [input, request] = [JSON.stringify(TOOL_ARGUMENTS), JSON.stringify(TOOL_REQUEST)];
  await prisma.$executeRaw`
    INSERT INTO tool_calls (id, run_id, position, call_id, name, digest, arguments, request, status, result, http_status,
      idempotency_key, started_at, finished_at)
    SELECT id, ${runId}, place - 1, repeat('c', 256), ${TOOL_NAMES[0]}, id, ${input}, ${request}::jsonb, 'COMPLETED',
      ${TOOL_RESULT}, 200, id, now(), now()
    FROM unnest(${ids}::text[]) WITH ORDINALITY AS call (id, place)`;
  await prisma.$executeRaw`
    INSERT INTO approvals (id, bot_id, run_id, deployment_id, environment, channel, session_id, background, name, reason,
      arguments, edited_arguments, request, values, digest, status, note, expires_at, decided_at, settled_at)
    SELECT id, ${botId}, ${runId}, ${deploymentId}, 'PRODUCTION', 'API', ${SESSION_ID}, false, ${TOOL_NAMES[0]}, ${REASON},
      ${input}, ${input}, ${request}::jsonb, '{}', id, 'APPROVED', ${NOTE}, now(), now(), now()
    FROM unnest(${ids}::text[]) AS id`;
}

/** Stores an evaluation with the longest texts and as many attempts as a case may have. */
async function makeEvaluation(
  prisma: PrismaClient,
  botId: string,
  accountId: string,
): Promise<void> {
  const [id, text] = [makeId('eva'), 'x'.repeat(EVALUATION_TEXT)];
  const call = { name: TOOL_NAMES[0], arguments: text, result: text, failed: false };
  const tokens = { promptTokens: 1, completionTokens: 1 };
  const expectation = { line: 1, column: 1, expectation: text, verdict: 'PASSED', detail: text };
  const turn = { message: text, reply: text, calls: [call], expectations: [expectation] };
  const attempt = {
    verdict: 'PASSED',
    error: text,
    turns: [{ ...turn, ...tokens, latencyMs: 1 }],
    comparison: {
      outcome: 'EQUAL',
      reason: text,
      newReply: 'A',
      callChanges: [
        { change: 'CHANGED', name: TOOL_NAMES[0], arguments: text, recordedArguments: text },
      ],
      recorded: { reply: text, error: text, calls: [call], ...tokens, latencyMs: 1 },
      feedback: [{ rating: 'UP', note: NOTE }],
      judge: tokens,
    },
  };
  await prisma.$executeRaw`
    INSERT INTO evaluations (id, bot_id, account_id, environment, source, source_hash, model, repeat, status, note, cases,
      passed, finished_at)
    VALUES (${id}, ${botId}, ${accountId}, 'PRODUCTION', '', repeat('0', 64), repeat('m', 128), 10, 'COMPLETED',
      repeat('n', 2000), 1, 1, now())`;
  await prisma.$executeRaw`
    INSERT INTO evaluation_cases (id, evaluation_id, position, name, line, "column", finished, passed, verdict, attempts)
    SELECT ${makeId('eca')}, ${id}, 0, repeat('t', 200), 1, 1, 10, 10, 'PASSED', jsonb_agg(${JSON.stringify(attempt)}::jsonb)
    FROM generate_series(1, 10)`;
}

/** As many deltas as a run stores, as `runs/record/event-codec.ts` writes them. */
function eventsOf(length: number): number[] {
  const count = 32_768;
  return Array.from({ length: count }, (_, index) => Math.floor((length * (index + 1)) / count));
}

async function fillSessions(prisma: PrismaClient, botId: string): Promise<void> {
  const keys = Array.from({ length: SESSIONS }, (_, index) => sessionKey(index));
  await prisma.session.createMany({
    data: keys.map((id, index) => ({
      id,
      botId,
      environment: 'PRODUCTION' as const,
      sessionId: index === 0 ? SESSION_ID : `${index}${SESSION_ID.slice(3)}`,
      turns: MESSAGES,
      lastSeenAt: new Date(Date.now() - index * 1_000),
    })),
  });
  await prisma.$executeRaw`
    INSERT INTO memory_entries (session_key, name, value, updated_at)
    SELECT session, rpad('n' || fact, 64, 'n'), ${FACT}, now()
    FROM unnest(${keys.slice(0, FACT_SESSIONS)}::text[]) AS session CROSS JOIN generate_series(1, ${FACTS}::int) AS fact`;
  await prisma.$executeRaw`
    INSERT INTO messages (id, session_key, run_id, turn, position, role, text)
    SELECT 'msg_' || lpad(turn::text, 26, '0'), ${sessionKey(0)}, run.id, turn, 0, 'USER',
      repeat(${CONTROL}, CASE turn WHEN 1 THEN ${MEBIBYTE}::int ELSE 5000 END)
    FROM generate_series(1, ${MESSAGES}::int) AS turn,
      (SELECT id FROM runs WHERE bot_id = ${botId} ORDER BY id LIMIT 1) AS run`;
}
