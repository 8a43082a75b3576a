import { MAX_DEPLOYED_BOTS } from '../../deployments/deployed-bots.ts';
import { MAX_LISTED as MAX_DIAGNOSTICS } from '../../deployments/diagnostics.ts';
import { Channel } from '../../generated/prisma/client.ts';
import { BOUNDS } from '../../language/bounds.ts';
import { MODEL_CHECKS } from '../../model/check/model-check.ts';
import { MAX_ENV_VARS, MAX_ORIGINS, MAX_SCOPES } from '../../text/input.ts';

/** The most entries of a list without pages. A list of an enumeration has at most each of its values once. */
export const ENTRIES: Readonly<Record<string, number>> = {
  'ApiKey.scopes': MAX_SCOPES,
  'Bot.webOrigins': MAX_ORIGINS,
  // For each day that the arguments of `stats` name.
  'BotStats.perDay': 1,
  'BotStats.perHour': 24,
  'ChatDone.toolsCalled': BOUNDS.toolCalls,
  'ChatPage.suggestions': BOUNDS.suggestions,
  'ChatReply.toolsCalled': BOUNDS.toolCalls,
  'DefinitionReport.diagnostics': MAX_DIAGNOSTICS,
  'DefinitionReport.envNames': BOUNDS.variables,
  'DefinitionReport.tools': BOUNDS.groups * BOUNDS.capabilities,
  'DeployCheck.carriedOverEnvNames': MAX_ENV_VARS,
  'DeployCheck.diagnostics': MAX_DIAGNOSTICS,
  'DeployCheck.envNames': BOUNDS.variables,
  'DeployCheck.missingEnvNames': BOUNDS.variables,
  'DeployCheck.removedEnvNames': MAX_ENV_VARS,
  'DeployCheck.setEnvNames': MAX_ENV_VARS,
  'Deployment.channelStates': Object.keys(Channel).length,
  'Deployment.envNames': MAX_ENV_VARS,
  'Deployment.sentEnvNames': MAX_ENV_VARS,
  // The cases are measured as a whole, with their attempts.
  'Evaluation.results': 1,
  'EvaluationAttempt.turns': 1,
  'EvaluationCase.attempts': 1,
  'EvaluationComparison.callChanges': 1,
  'EvaluationComparison.feedback': 1,
  'EvaluationRecord.calls': 1,
  'EvaluationTurn.calls': 1,
  'EvaluationTurn.expectations': 1,
  'Query.deployedBots': MAX_DEPLOYED_BOTS,
  'ModelTest.checks': MODEL_CHECKS.length,
  'Server.checks': 8,
  // The tool calls are measured as a whole.
  'Run.toolCalls': 1,
  'Run.toolsCalled': BOUNDS.toolCalls,
  // The prompt is measured as a whole.
  'RunPrompt.parts': 1,
  // The trace is measured as a whole.
  'Trace.spans': 1,
};
