import type { Lengths } from './heaviest.ts';
import type { Values } from './paths.ts';

/** The bot with the longest texts. */
export const HEAVY_BOT = 'heavy-0';

export const KIBIBYTE = 1024;
export const MEBIBYTE = 1024 * KIBIBYTE;
export const BOTS = 100;
export const KEYS = 1_000;
export const FACTS = 256;
export const RATINGS = 20;
export const SPANS = 130;
const PARTS = 6;
export const TOOLS = 64;
const VARIABLES = 200;
const ORIGINS = 50;

/** A character that takes one byte in the database and six in JSON, where a text may contain it. */
export const CONTROL = '\u0001';
export const long = (length: number, character = CONTROL) => character.repeat(length);
const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const names = (count: number, length: number) =>
  Array.from({ length: count }, (_, index) => `N${index}_`.padEnd(length, 'N'));

export const DISPLAY_NAME = long(200);
export const NOTE = long(2_000);
export const DEPLOY_MESSAGE = long(1_000);
export const FACT = long(4_000);
export const SESSION_ID = long(256, '語');
export const MODEL_NAME = long(256, 'm');
export const ERROR_MESSAGE = long(500);
export const ERROR_DETAIL = long(512, '"');
export const FINISH_REASON = long(256, '"');
export const PROBLEM = long(500);
const DIAGNOSTIC = long(400);
export const TOOL_NAMES = names(TOOLS, 129);
export const VARIABLE_NAMES = names(VARIABLES, 128);
export const ORIGIN_LIST = Array.from(
  { length: ORIGINS },
  (_, index) =>
    `https://${long(60, 'a')}.${long(60, 'b')}.${long(60, 'c')}.${long(50, 'd')}.h${index}`,
);
/** Characters of each text of an evaluation. */
export const EVALUATION_TEXT = 16 * KIBIBYTE;
export const REASON = long(500);
export const TOOL_ARGUMENTS = { text: long(64 * KIBIBYTE - 20, 'a') };
export const TOOL_RESULT = long(64 * KIBIBYTE);
export const TOOL_REQUEST = {
  method: 'POST',
  url: `https://${long(200, 'h')}/${long(16_000, 'p')}`,
  body: long(48 * KIBIBYTE),
};
export const INPUT = long(MEBIBYTE - 100, '"');
export const CONTEXT = Object.fromEntries(names(9_000, 20).map((name) => [name, long(80, 'v')]));
export const METADATA = { text: long(64 * KIBIBYTE - 20, '"') };
export const RESPONSE_LENGTH = 4 * MEBIBYTE;
export const SPAN = {
  spanId: '0123456789abcdef',
  parentId: '0123456789abcdef',
  name: long(256, 'n'),
  startedAt: Date.now(),
  durationMs: 1.5,
  status: 'ok',
  // Names and counts: at most a few of them are texts that a model server or a tool chooses.
  attributes: Object.fromEntries(names(4, 40).map((name) => [name, long(256, '"')])),
};
export const DIAGNOSTICS = Array.from({ length: 101 }, (_, index) => ({
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
export const SOURCE = `agentlang 5
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
  'Approval.arguments': jsonBytes(TOOL_ARGUMENTS),
  'Approval.editedArguments': jsonBytes(TOOL_ARGUMENTS),
  'Approval.inputSchema': 100,
  'Approval.name': jsonBytes(TOOL_NAMES[0]),
  'Approval.note': jsonBytes(NOTE),
  'Approval.reason': jsonBytes(REASON),
  'Approval.user': jsonBytes(SESSION_ID),
  'AuditEntry.targetId': 40,
  'Bot.id': 40,
  'Bot.name': jsonBytes(DISPLAY_NAME),
  'Bot.logoUrl': 90,
  'Bot.webOrigins': jsonBytes(ORIGIN_LIST),
  'Bot.webUrl': 60,
  'BotTool.description': 10,
  'BotTool.outputSchema': 10,
  'BotStats.perDay': 366,
  'BotStats.perHour': 168,
  'ChannelState.problem': jsonBytes(PROBLEM),
  'ChatDone.toolsCalled': jsonBytes(TOOL_NAMES),
  'ChatFailed.message': jsonBytes(ERROR_MESSAGE),
  'ChatPage.accent': 7,
  'ChatPage.name': 10,
  'ChatPage.title': 10,
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
  'DeployCheck.missingEnvNames': 2_000,
  'DeployCheck.removedEnvNames': 2_000,
  'DeployCheck.setEnvNames': 2_000,
  'DeployedBot.owner': jsonBytes(DISPLAY_NAME),
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
  'Message.text': 6 * MEBIBYTE,
  'Message.toolName': jsonBytes(TOOL_NAMES[0]),
  'PromptPart.text': MEBIBYTE,
  'Run.context': jsonBytes(CONTEXT),
  'Run.feedback': RATINGS,
  'ReplyEnd.finishReason': jsonBytes(FINISH_REASON),
  'Run.finishReason': jsonBytes(FINISH_REASON),
  'Run.input': jsonBytes(INPUT),
  'Run.inputExcerpt': 400,
  'Run.metadata': jsonBytes(METADATA),
  'Run.model': jsonBytes(MODEL_NAME),
  'Run.output': RESPONSE_LENGTH,
  'Run.replyText': 6 * RESPONSE_LENGTH,
  'Run.response': 6 * RESPONSE_LENGTH,
  'Run.responseExcerpt': 1_200,
  'Run.sessionId': jsonBytes(SESSION_ID),
  'Evaluation.judgeModel': 130,
  'Evaluation.model': 130,
  'Evaluation.note': 2_002,
  'Evaluation.results': 1,
  'Evaluation.sourceHash': 66,
  'EvaluationAttempt.error': EVALUATION_TEXT,
  'EvaluationAttempt.turns': 1,
  'EvaluationCall.arguments': EVALUATION_TEXT,
  'EvaluationCall.name': jsonBytes(TOOL_NAMES[0]),
  'EvaluationCall.result': EVALUATION_TEXT,
  'EvaluationCallChange.arguments': EVALUATION_TEXT,
  'EvaluationCallChange.name': jsonBytes(TOOL_NAMES[0]),
  'EvaluationCallChange.recordedArguments': EVALUATION_TEXT,
  'EvaluationCase.attempts': 10,
  'EvaluationComparison.callChanges': 1,
  'EvaluationComparison.feedback': 1,
  'EvaluationComparison.reason': EVALUATION_TEXT,
  'EvaluationExpectation.detail': EVALUATION_TEXT,
  'EvaluationExpectation.expectation': EVALUATION_TEXT,
  'EvaluationFeedback.note': jsonBytes(NOTE),
  'EvaluationRecord.calls': 1,
  'EvaluationRecord.error': EVALUATION_TEXT,
  'EvaluationRecord.reply': EVALUATION_TEXT,
  'EvaluationTurn.calls': 1,
  'EvaluationTurn.expectations': 1,
  'EvaluationTurn.message': EVALUATION_TEXT,
  'EvaluationTurn.reply': EVALUATION_TEXT,
  'EvaluationCase.name': 202,
  'Run.toolCalls': TOOLS,
  'Run.toolsCalled': jsonBytes(TOOL_NAMES),
  'Run.user': jsonBytes(SESSION_ID),
  'RunError.detail': jsonBytes(ERROR_DETAIL),
  'RunError.message': jsonBytes(ERROR_MESSAGE),
  'RunPrompt.parts': PARTS,
  'Session.memory': FACTS,
  'Session.sessionId': jsonBytes(SESSION_ID),
  'Span.attributes': jsonBytes(SPAN.attributes),
  'Span.name': jsonBytes(SPAN.name),
  'TextDelta.delta': 1_000,
  'ToolCall.arguments': jsonBytes(TOOL_ARGUMENTS),
  'ToolCall.idempotencyKey': 30,
  'ToolCall.name': jsonBytes(TOOL_NAMES[0]),
  'ToolCall.result': jsonBytes(TOOL_RESULT),
  'ToolFinished.result': jsonBytes(TOOL_RESULT),
  'ToolRequest.body': jsonBytes(TOOL_REQUEST.body),
  'ToolRequest.method': 8,
  'ToolRequest.url': jsonBytes(TOOL_REQUEST.url),
  'ToolStarted.arguments': jsonBytes(TOOL_ARGUMENTS),
  'Trace.spans': SPANS,
  'Usage.byBot': BOTS,
  'Usage.byKey': KEYS,
};

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
    Query_approval_id: ids.Approval?.[0],
    Query_approvalRequest_id: ids.Approval?.[0],
    Query_approvalRequest_arguments: {},
    Query_evaluation_id: ids.Evaluation?.[0],
    Mutation_cancelEvaluation_id: ids.Evaluation?.[0],
    Query_evaluationForecast_botId: botId,
    Query_evaluationForecast_input: { deploymentId: ids.Deployment?.[0] },
    Mutation_startEvaluation_botId: botId,
    Mutation_startEvaluation_input: { deploymentId: ids.Deployment?.[0] },
    Subscription_evaluationChanged_botId: botId,
    Subscription_evaluationChanged_id: ids.Evaluation?.[0],
    Subscription_approvalChanged_botId: botId,
    Subscription_sessionChanged_botId: botId,
    Subscription_sessionChanged_sessionId: SESSION_ID,
    Subscription_runChanged_botId: botId,
    Subscription_deploymentChanged_botId: botId,
    Subscription_runEvents_runId: runId,
    Subscription_runExport_botId: botId,
    Subscription_runExport_format: 'JSON_LINES',
  };
}
