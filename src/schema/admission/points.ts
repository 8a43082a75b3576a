/** Points for each occurrence of a paginated list in a document. */
export const LIST_POINTS = 2;

/**
 * Points for each occurrence in a document of other fields that read or compute data, for all parents together. A
 * point is about one SQL statement; work that can take hundreds of milliseconds has 20.
 */
export const POINTS: Readonly<Record<string, number>> = {
  'Account.apiKeys': 2,
  'Approval.arguments': 1,
  'Approval.bot': 1,
  'Approval.call': 1,
  'Approval.editedArguments': 1,
  'Approval.inputSchema': 2,
  'Approval.request': 1,
  'Approval.session': 2,
  'Account.auditLog': 3,
  'ApiKey.bots': 1,
  'Bot.activeDeployment': 2,
  'Bot.approvalsWaiting': 1,
  'Bot.chatPage': 2,
  'Bot.runs': 3,
  'Bot.session': 4,
  'Bot.stats': 20,
  'Bot.tool': 2,
  'BotStats.perHour': 5,
  'ChatDone.run': 1,
  'ChatReply.run': 1,
  'DayStats.latencyP50': 3,
  'DayStats.latencyP95': 3,
  'DayStats.thumbsDown': 1,
  'DayStats.thumbsUp': 1,
  'DefinitionReport.formatted': 10,
  'Deployment.bot': 1,
  'Deployment.channelStates': 1,
  'Deployment.previous': 1,
  'Deployment.rolledBackTo': 1,
  'HourStats.latencyP50': 3,
  'HourStats.latencyP95': 3,
  'HourStats.thumbsDown': 1,
  'HourStats.thumbsUp': 1,
  'Evaluation.results': 2,
  'Message.run': 1,
  'Message.toolName': 1,
  'Mutation.cancelEvaluation': 5,
  'Mutation.decideApproval': 5,
  'Mutation.deploy': 5,
  'Mutation.promote': 5,
  'Mutation.rollback': 5,
  'Mutation.startEvaluation': 20,
  'Mutation.testModel': 20,
  'Query.approval': 1,
  'Query.checkDefinition': 20,
  'Query.checkDeploy': 20,
  'Query.deployedBot': 1,
  'Query.deployedBots': 2,
  'Query.followedRun': 1,
  'Query.evaluation': 1,
  'Query.evaluationForecast': 20,
  'Query.node': 1,
  'Query.nodes': 10,
  'Query.run': 1,
  'Query.runEventsEnd': 2,
  'Query.runs': 3,
  'Run.bot': 1,
  'Run.context': 1,
  'Run.deployment': 1,
  'Run.feedback': 1,
  'Run.inputExcerpt': 1,
  'Run.prompt': 20,
  'Run.responseExcerpt': 1,
  'Run.toolCalls': 1,
  'RunStarted.run': 1,
  'Server.database': 1,
  'Session.activeRun': 2,
  'Session.memory': 1,
  'Session.waitsForApproval': 1,
  'Subscription.runExport': 20,
  'Viewer.usage': 20,
};

/** Points of each event of a subscription, besides the points of its selection: some read the object that changed. */
export const EVENT_POINTS: Readonly<Record<string, number>> = {
  approvalChanged: 1,
  deploymentChanged: 1,
  evaluationChanged: 1,
  runChanged: 1,
  sessionChanged: 2,
};

/** The points of each occurrence, for the schema's descriptions and for errors. */
export const PRICES = `${LIST_POINTS} for a list, ${POINTS['Query.runs']} for runs and the audit log, ${POINTS['Bot.stats']} for \`stats\`, \`usage\`, \`Run.prompt\`, \`runExport\`, \`checkDefinition\` and \`checkDeploy\`, and 1 to 10 for other fields that read data`;
/** For the descriptions of the fields with the most points. */
export const HIGHEST_PRICE = `Each occurrence in a document costs ${POINTS['Bot.stats']} of the 100 points that an operation may cost.`;
