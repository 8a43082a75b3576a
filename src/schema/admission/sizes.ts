import { MAX_DESCRIPTION, MAX_OUTPUT_SCHEMA } from '../../agent/bot-tools.ts';
import { MAX_CALL_ID } from '../../agent/call-tool.ts';
import { MAX_SENTENCE } from '../../agent/model-tests.ts';
import { MAX_DETAIL, MAX_SERVER_TEXT } from '../../agent/untrusted-text.ts';
import { BOUNDS } from '../../language/bounds.ts';
import { MAX_MESSAGE_LENGTH } from '../../language/diagnostic.ts';
import { MAX_ERROR_LENGTH } from '../../runs/life/runs.ts';
import { PART_LENGTH } from '../../runs/list/export.ts';
import { EXCERPT_LENGTH } from '../../runs/record/excerpts.ts';
import { MAX_MODEL_NAME } from '../../runs/record/model-name.ts';
import { LONGEST } from '../../text/input.ts';

/**
 * Bytes of long texts and lists that one operation, or one event of a subscription, may return: the fields in `MEASURED`.
 * A text that appears twice in the response counts twice.
 */
export const MAX_READ_BYTES = 8 * 1024 * 1024;

/** The longest JSON of a text of this many UTF-16 code units: a control character takes 6 bytes, as in `\u0001`. */
const text = (length: number) => 6 * length + 2;
/** The longest JSON of a text without control characters, in code points. */
const visible = (length: number) => 4 * length + 2;
/** The JSON of a text of ASCII characters that need no escape. */
const ascii = (length: number) => length + 2;

const NAME = text(LONGEST.displayName);
const SESSION_ID = visible(LONGEST.sessionId);
const ENV_NAME = ascii(LONGEST.envName);
/** `<group>.<tool>`. The name of a group is ASCII; an MCP server chooses the names of its tools. */
const TOOL_NAME = BOUNDS.nameLength + 1 + text(BOUNDS.longNameLength);
/** base64url of a number of 14 digits, a point and an id of 64 characters. */
const CURSOR = ascii(108);
/** The state of a channel in a sentence of Parley's own is shorter than the message of an error. */
const SENTENCE = text(MAX_ERROR_LENGTH);
const URL_LENGTH = text(BOUNDS.urlLength);
const API_KEY = ascii(64);

/** The longest JSON of a value in bytes, for the scalars whose values have a form. An id is at most a bot's id. */
export const SCALAR_LENGTHS: Readonly<Record<string, number>> = {
  ID: ascii(64),
  Int: 11,
  Float: 24,
  Boolean: 5,
  Date: ascii(10),
  DateTime: ascii(27),
};

/** The longest JSON of a text in bytes; of each entry, if the field is a list. */
export const LENGTHS: Readonly<Record<string, number>> = {
  'Account.name': NAME,
  'AccountEdge.cursor': CURSOR,
  'ApiKey.name': NAME,
  'ApiKey.prefix': ascii(14),
  'ApiKeyEdge.cursor': CURSOR,
  'Approval.name': TOOL_NAME,
  'Approval.note': text(LONGEST.note),
  'Approval.reason': text(BOUNDS.approvalLength),
  'Approval.user': SESSION_ID,
  'ApprovalEdge.cursor': CURSOR,
  'AuditLogEdge.cursor': CURSOR,
  'Bot.name': NAME,
  // `/chat/<id of 64 characters>/logo/<hash of 32 characters>`.
  'Bot.logoUrl': ascii(108),
  'Bot.webOrigins': ascii(LONGEST.origin),
  'Bot.webUrl': URL_LENGTH,
  'BotEdge.cursor': CURSOR,
  'BotTool.description': text(MAX_DESCRIPTION),
  'BotTool.outputSchema': MAX_OUTPUT_SCHEMA,
  'ChannelState.problem': SENTENCE,
  'ChatDone.toolsCalled': TOOL_NAME,
  'ChatFailed.message': SENTENCE,
  'ChatPage.accent': ascii(7),
  'ChatPage.name': text(BOUNDS.agentNameLength),
  'ChatPage.title': text(BOUNDS.agentNameLength),
  'ChatPage.suggestions': text(BOUNDS.suggestionLength),
  'ChatPage.welcome': text(BOUNDS.welcomeLength),
  'ChatReply.sessionId': SESSION_ID,
  'ChatReply.toolsCalled': TOOL_NAME,
  'CreateAccountPayload.secret': API_KEY,
  'CreateApiKeyPayload.secret': API_KEY,
  // The encrypted claims: a context of 4 KiB and the names of the bot and the session, in base64url.
  'CreateSessionTokenPayload.token': ascii(16 * 1024),
  // A prefix of 10 characters and 48 bytes in base64url.
  'CreateSignInCodePayload.code': ascii(74),
  'DefinitionReport.envNames': ENV_NAME,
  'DefinitionReport.tools': TOOL_NAME,
  'Dependency.name': ascii(32),
  'DeployCheck.carriedOverEnvNames': ENV_NAME,
  'DeployCheck.envNames': ENV_NAME,
  'DeployCheck.missingEnvNames': ENV_NAME,
  'DeployCheck.removedEnvNames': ENV_NAME,
  'DeployCheck.setEnvNames': ENV_NAME,
  'Deployment.envNames': ENV_NAME,
  'Deployment.message': text(LONGEST.deployMessage),
  'Deployment.sentEnvNames': ENV_NAME,
  'DeployedBot.owner': NAME,
  'DeploymentEdge.cursor': CURSOR,
  'Diagnostic.code': ascii(64),
  'Diagnostic.message': text(MAX_MESSAGE_LENGTH),
  'Evaluation.judgeModel': text(BOUNDS.longNameLength),
  'Evaluation.model': text(BOUNDS.longNameLength),
  'Evaluation.note': SENTENCE,
  'Evaluation.sourceHash': ascii(64),
  'EvaluationCase.name': text(BOUNDS.testNameLength),
  'EvaluationEdge.cursor': CURSOR,
  'Feedback.note': text(LONGEST.note),
  'MemoryEntry.name': ascii(LONGEST.factName),
  'MemoryEntry.value': text(LONGEST.factValue),
  'Message.toolName': TOOL_NAME,
  'MessageEdge.cursor': CURSOR,
  'ModelCheck.advice': text(MAX_SENTENCE),
  'ModelCheck.message': text(MAX_SENTENCE),
  'ModelTest.model': text(MAX_MODEL_NAME),
  'PageInfo.endCursor': CURSOR,
  'PageInfo.startCursor': CURSOR,
  'RotateApiKeyPayload.secret': API_KEY,
  'ReplyEnd.finishReason': text(MAX_SERVER_TEXT),
  'Run.cursor': CURSOR,
  'Run.finishReason': text(MAX_SERVER_TEXT),
  'Run.inputExcerpt': text(EXCERPT_LENGTH),
  'Run.model': text(MAX_MODEL_NAME),
  'Run.responseExcerpt': text(EXCERPT_LENGTH),
  'Run.sessionId': SESSION_ID,
  'Run.toolsCalled': TOOL_NAME,
  'Run.user': SESSION_ID,
  'RunEdge.cursor': CURSOR,
  'RunError.detail': text(MAX_DETAIL),
  'RunError.message': SENTENCE,
  'RunExportPart.text': text(PART_LENGTH),
  'RunStarted.sessionId': SESSION_ID,
  'Server.version': ascii(64),
  'ServerCheck.advice': text(MAX_SENTENCE),
  'ServerCheck.message': text(MAX_SENTENCE),
  'ServerCheck.name': ascii(64),
  'Session.sessionId': SESSION_ID,
  'SessionEdge.cursor': CURSOR,
  'Span.parentId': ascii(16),
  'Span.spanId': ascii(16),
  'ToolCall.callId': text(MAX_CALL_ID),
  'ToolCall.idempotencyKey': ascii(30),
  'ToolCall.name': TOOL_NAME,
  'ToolFinished.callId': text(MAX_CALL_ID),
  'ToolFinished.name': TOOL_NAME,
  'ToolStarted.callId': text(MAX_CALL_ID),
  'ToolStarted.label': text(BOUNDS.labelLength),
  'ToolStarted.name': TOOL_NAME,
  'Trace.traceId': ascii(32),
};

/**
 * Fields whose answers are measured when they are read, with all that is selected below them, because they are often
 * short and rarely long. An operation that selects one counts the read budget for all of them together.
 */
export const MEASURED: ReadonlySet<string> = new Set([
  'Account.apiKeys',
  'ApiKey.bots',
  'Approval.arguments',
  'Approval.editedArguments',
  'Approval.inputSchema',
  'Approval.request',
  'ChatDone.output',
  'ChatReply.output',
  'ChatReply.response',
  'DefinitionReport.formatted',
  'Deployment.diagnostics',
  'Deployment.source',
  'Evaluation.results',
  'EvaluationAttempt.error',
  'EvaluationCall.arguments',
  'EvaluationCall.name',
  'EvaluationCall.result',
  'EvaluationCallChange.arguments',
  'EvaluationCallChange.name',
  'EvaluationCallChange.recordedArguments',
  'EvaluationCase.attempts',
  'EvaluationComparison.reason',
  'EvaluationExpectation.detail',
  'EvaluationExpectation.expectation',
  'EvaluationFeedback.note',
  'EvaluationRecord.error',
  'EvaluationRecord.reply',
  'EvaluationTurn.message',
  'EvaluationTurn.reply',
  'Message.text',
  'PromptPart.text',
  'Run.context',
  'Run.feedback',
  'Run.input',
  'Run.metadata',
  'Run.output',
  'Run.prompt',
  'Run.replyText',
  'Run.response',
  'Run.toolCalls',
  'Run.trace',
  'Server.allowedOrigins',
  'Server.model',
  'Session.memory',
  'Span.attributes',
  'Span.name',
  'TextDelta.delta',
  'ToolCall.arguments',
  'ToolCall.request',
  'ToolCall.result',
  'ToolFinished.result',
  'ToolRequest.body',
  'ToolRequest.method',
  'ToolRequest.url',
  'ToolStarted.arguments',
  'Usage.byBot',
  'Usage.byKey',
]);
