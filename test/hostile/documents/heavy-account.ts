import { OWNER_SCOPES } from '../../../src/accounts/accounts.ts';
import { newApiKey } from '../../../src/accounts/new-key.ts';
import type { EnvironmentCipher } from '../../../src/deployments/environment.ts';
import type { PrismaClient } from '../../../src/generated/prisma/client.ts';
import { makeId } from '../../../src/ids.ts';
import type { Lengths } from './heaviest.ts';
import type { Values } from './paths.ts';

/** The bot with the longest texts. */
export const HEAVY_BOT = 'heavy-0';

const KIBIBYTE = 1024;
const MEBIBYTE = 1024 * KIBIBYTE;
const BOTS = 100;
const KEYS = 1_000;
const DEPLOYMENTS = 100;
const DEPLOYMENTS_OF_OTHERS = 3;
const RUNS = 100;
/** Runs with a reply of the longest length; others of the first bot have only their other texts at the longest. */
const LONGEST_RUNS = 5;
const SESSIONS = 100;
const FACTS = 256;
const FACT_SESSIONS = 20;
const MESSAGES = 200;
const RATINGS = 20;
const AUDIT_ENTRIES = 500;
const SPANS = 130;
const PARTS = 6;
const TOOLS = 64;
const VARIABLES = 200;
const ORIGINS = 50;

/** A character that takes one byte in the database and six in JSON, where a text may contain it. */
const CONTROL = '\u0001';
const long = (length: number, character = CONTROL) => character.repeat(length);
const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const names = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `N${index}_`.padEnd(length, 'N'));

const DISPLAY_NAME = long(200);
const NOTE = long(2_000);
const DEPLOY_MESSAGE = long(1_000);
const FACT = long(4_000);
const SESSION_ID = long(256, '語');
const MODEL_NAME = long(256, 'm');
const ERROR_MESSAGE = long(2_000);
const PROBLEM = long(500);
const DIAGNOSTIC = long(400);
const TOOL_NAMES = names(TOOLS, 129);
const VARIABLE_NAMES = names(VARIABLES, 128);
const ORIGIN_LIST = Array.from(
  { length: ORIGINS },
  (_, index) =>
    `https://${long(60, 'a')}.${long(60, 'b')}.${long(60, 'c')}.${long(50, 'd')}.h${index}`,
);
const INPUT = long(MEBIBYTE - 100, '"');
const CONTEXT = Object.fromEntries(names(9_000, 20).map((name) => [name, long(80, 'v')]));
const METADATA = { text: long(64 * KIBIBYTE - 20, '"') };
const RESPONSE_LENGTH = 4 * MEBIBYTE;
const SPAN = {
  spanId: '0123456789abcdef',
  parentId: '0123456789abcdef',
  name: long(256, 'n'),
  startedAt: Date.now(),
  durationMs: 1.5,
  status: 'ok',
  attributes: Object.fromEntries(names(20, 40).map((name) => [name, long(256)])),
};
const DIAGNOSTICS = Array.from({ length: 101 }, (_, index) => ({
  severity: 'WARNING',
  code: 'secret-literal',
  message: DIAGNOSTIC,
  line: index + 1,
  column: 1,
  endLine: index + 1,
  endColumn: 2,
}));
const WELCOME_LENGTH = 120 * KIBIBYTE;
const SUGGESTION = long(5_000, 's');
const SUGGESTIONS = 20;
/** A definition of nearly 256 KiB, as an earlier version of Parley accepted it. */
const SOURCE = `agentlang 5
agent "Heavy" {
  prompt "{{ context }}"
  channel web {
    welcome "${long(WELCOME_LENGTH, 'w')}"
    suggestions ${Array.from({ length: SUGGESTIONS }, (_, index) => `"${index}${SUGGESTION}"`).join(', ')}
  }
}
`;

/** The longest values of the account's fields, see `Lengths`. */
export const LENGTHS: Lengths = {
  'Account.apiKeys': KEYS,
  'Account.name': jsonBytes(DISPLAY_NAME),
  'ApiKey.bots': 100,
  'ApiKey.name': jsonBytes(DISPLAY_NAME),
  'ApiKey.scopes': 40,
  'AuditEntry.targetId': 40,
  'Bot.id': 40,
  'Bot.name': jsonBytes(DISPLAY_NAME),
  'Bot.webOrigins': jsonBytes(ORIGIN_LIST),
  'Bot.webUrl': 60,
  'BotStats.perDay': 366,
  'BotStats.perHour': 168,
  'ChannelState.problem': jsonBytes(PROBLEM),
  'ChatDone.toolsCalled': jsonBytes(TOOL_NAMES),
  'ChatFailed.message': jsonBytes(ERROR_MESSAGE),
  'ChatPage.name': 10,
  'ChatPage.suggestions': SUGGESTIONS * SUGGESTION.length,
  'ChatPage.welcome': WELCOME_LENGTH,
  'ChatReply.response': 100,
  'DefinitionReport.diagnostics': 101,
  'DefinitionReport.envNames': 2_000,
  'DefinitionReport.formatted': 6 * SOURCE.length,
  'DefinitionReport.tools': 2_000,
  'DeployCheck.carriedOverEnvNames': jsonBytes(VARIABLE_NAMES),
  'DeployCheck.diagnostics': 101,
  'DeployCheck.envNames': 2_000,
  'DeployCheck.removedEnvNames': 2_000,
  'Deployment.channelStates': 1,
  'Deployment.diagnostics': DIAGNOSTICS.length,
  'Deployment.envNames': jsonBytes(VARIABLE_NAMES),
  'Deployment.message': jsonBytes(DEPLOY_MESSAGE),
  'Deployment.sentEnvNames': jsonBytes(VARIABLE_NAMES),
  'Deployment.source': jsonBytes(SOURCE),
  'Diagnostic.message': jsonBytes(DIAGNOSTIC),
  'Feedback.note': jsonBytes(NOTE),
  'MemoryEntry.name': 64,
  'MemoryEntry.value': jsonBytes(FACT),
  'Message.text': MEBIBYTE,
  'PromptPart.text': MEBIBYTE,
  'Run.context': jsonBytes(CONTEXT),
  'Run.feedback': RATINGS,
  'Run.input': jsonBytes(INPUT),
  'Run.inputExcerpt': 400,
  'Run.metadata': jsonBytes(METADATA),
  'Run.model': jsonBytes(MODEL_NAME),
  'Run.output': RESPONSE_LENGTH,
  'Run.response': 6 * RESPONSE_LENGTH,
  'Run.responseExcerpt': 1_200,
  'Run.sessionId': jsonBytes(SESSION_ID),
  'Run.toolsCalled': jsonBytes(TOOL_NAMES),
  'Run.user': jsonBytes(SESSION_ID),
  'RunError.message': jsonBytes(ERROR_MESSAGE),
  'RunPrompt.parts': PARTS,
  'Session.memory': FACTS,
  'Session.sessionId': jsonBytes(SESSION_ID),
  'Span.attributes': jsonBytes(SPAN.attributes),
  'Span.name': jsonBytes(SPAN.name),
  'TextDelta.delta': 1_000,
  'Trace.spans': SPANS,
  'Usage.byBot': BOTS,
  'Usage.byKey': KEYS,
};

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

/** @returns the ids of the keys, beginning with that of `apiKey`. */
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
        output, error_code, error_message, model, metadata, created_at, started_at, finished_at, latency_ms, prompt_tokens,
        completion_tokens, tools_called, trace_id, spans, events, event_times, key_id)
      SELECT id, ${botId}, ${deploymentIds[bot] ?? ''}, 'PRODUCTION', 'CHAT', 'FAILED', 'API', ${SESSION_ID},
        ${isLong ? INPUT : long(200, '"')}, ${isLong ? JSON.stringify(CONTEXT) : '{}'}::jsonb,
        repeat(${CONTROL}, CASE WHEN place > ${isLong ? LONGEST_RUNS : 0} THEN 200 ELSE ${RESPONSE_LENGTH}::int END),
        jsonb_build_object('text', repeat('"', CASE WHEN place > ${isLong ? LONGEST_RUNS : 0} THEN 10 ELSE ${RESPONSE_LENGTH / 2}::int END)),
        'model_error', ${ERROR_MESSAGE}, ${MODEL_NAME}, ${JSON.stringify(isLong ? METADATA : {})}::jsonb,
        now() - place * interval '1 second', now(), now(), 1000, 1000, 1000,
        ${TOOL_NAMES}, repeat('a', 32), ${isLong ? spans : '[]'}::jsonb,
        ${isLong ? JSON.stringify(eventsOf(RESPONSE_LENGTH)) : '[]'}::jsonb, '{}', ${keyIds[bot] ?? ''}
      FROM unnest(${ids}::text[]) WITH ORDINALITY AS run (id, place)`;
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

/** As many deltas as a run stores, as `runs/event-codec.ts` writes them. */
function eventsOf(length: number): number[] {
  const count = 32_768;
  return Array.from({ length: count }, (_, index) => Math.floor((length * (index + 1)) / count));
}

const sessionKey = (index: number) => `ses_${String(index).padStart(26, '0')}`;

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

/** The ids of objects by type. The first of each type has the longest texts. */
export type Ids = Readonly<Record<string, string[]>>;

/**
 * Arguments of documents, by `variableOf`, that lead to the account's longest texts.
 *
 * @param type the type that `nodes` returns.
 */
export function heavyValues(ids: Ids, type: string): Values {
  const botId = HEAVY_BOT;
  const runId = ids.Run?.[0];
  const now = Date.now();
  return {
    Query_bot_id: botId,
    Query_runs_botId: botId,
    Query_run_id: runId,
    Query_nodes_ids: ids[type] ?? ids.Run,
    Query_checkDefinition_source: SOURCE,
    Query_checkDeploy_botId: botId,
    Query_checkDeploy_input: { source: SOURCE },
    Bot_session_id: SESSION_ID,
    Bot_stats_from: new Date(now - 7 * 24 * 3_600_000).toISOString(),
    Bot_stats_to: new Date(now).toISOString(),
    Mutation_cancelRun_id: runId,
    Mutation_setMemory_botId: botId,
    Mutation_setMemory_sessionId: SESSION_ID,
    Mutation_setMemory_name: 'fact',
    Mutation_setMemory_value: FACT,
    Mutation_addFeedback_runId: runId,
    Mutation_addFeedback_rating: 'UP',
    Mutation_addFeedback_note: NOTE,
    Mutation_updateBot_id: botId,
    Mutation_updateBot_input: { name: DISPLAY_NAME },
    Mutation_execute_botId: botId,
    Mutation_execute_input: { prompt: 'Hello' },
    Mutation_chat_botId: botId,
    Mutation_chat_input: { message: 'Hello' },
    Subscription_runChanged_botId: botId,
    Subscription_deploymentChanged_botId: botId,
    Subscription_runEvents_runId: runId,
    Subscription_runExport_botId: botId,
    Subscription_runExport_format: 'JSON_LINES',
  };
}
