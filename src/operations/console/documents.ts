// Written by `npm run documents`. Edit the .graphql files instead.

/** The texts of the console's operations. */
export const CONSOLE_DOCUMENTS = [
  `query Accounts($first: Int, $after: String) {
  accounts(first: $first, after: $after) {
    __typename
    edges {
      __typename
      node {
        __typename
        ...ListedAccount
      }
    }
    pageInfo {
      __typename
      hasNextPage
      endCursor
    }
  }
}

fragment ListedAccount on Account {
  id
  name
  plan
  requestsPerMinute
  requestsPerDay
  createdAt
  suspendedAt
}`,
  `mutation CreateAccount($input: CreateAccountInput!) {
  createAccount(input: $input) {
    __typename
    secret
    account {
      __typename
      id
    }
  }
}`,
  `mutation UpdateAccount($id: ID!, $input: UpdateAccountInput!) {
  updateAccount(id: $id, input: $input) {
    __typename
    ...ListedAccount
  }
}

fragment ListedAccount on Account {
  id
  name
  plan
  requestsPerMinute
  requestsPerDay
  createdAt
  suspendedAt
}`,
  `mutation SuspendAccount($id: ID!) {
  suspendAccount(id: $id) {
    __typename
    id
  }
}`,
  `mutation ResumeAccount($id: ID!) {
  resumeAccount(id: $id) {
    __typename
    id
  }
}`,
  `mutation DeleteAccount($id: ID!) {
  deleteAccount(id: $id)
}`,
  `query Server($isOperator: Boolean!) {
  server {
    __typename
    version
    startedAt
    model @include(if: $isOperator)
    allowedOrigins @include(if: $isOperator)
    database @include(if: $isOperator) {
      __typename
      ...Dependency
    }
    redis @include(if: $isOperator) {
      __typename
      ...Dependency
    }
  }
}

fragment Dependency on Dependency {
  name
  reachable
  latencyMs
}`,
  `mutation TestDefaultModel {
  testModel {
    __typename
    model
    usable
    checks {
      __typename
      name
      status
      message
      advice
    }
  }
}`,
  `query Bots($first: Int, $after: String) {
  bots(first: $first, after: $after) {
    __typename
    edges {
      __typename
      node {
        __typename
        id
        name
        createdAt
        production: activeDeployment(environment: PRODUCTION) {
          __typename
          ...RunningDeployment
        }
        staging: activeDeployment(environment: STAGING) {
          __typename
          ...RunningDeployment
        }
      }
    }
    pageInfo {
      __typename
      hasNextPage
      endCursor
    }
  }
}

fragment RunningDeployment on Deployment {
  id
  version
  status
  message
  keyId
  createdAt
  deployedAt
  channels
}`,
  `query BotExists($id: ID!) {
  bot(id: $id) {
    __typename
    id
  }
}`,
  `mutation CreateBot($input: CreateBotInput!) {
  createBot(input: $input) {
    __typename
    id
    name
  }
}`,
  `mutation RenameBot($id: ID!, $name: String!) {
  updateBot(id: $id, input: {name: $name}) {
    __typename
    id
    name
  }
}`,
  `query BotNames($first: Int, $search: String) {
  bots(first: $first, search: $search) {
    __typename
    edges {
      __typename
      node {
        __typename
        id
        name
      }
    }
    pageInfo {
      __typename
      hasNextPage
    }
  }
}`,
  `mutation DeleteBot($id: ID!) {
  deleteBot(id: $id)
}`,
  `query BotStats($first: Int, $after: String, $from: DateTime!, $to: DateTime!) {
  bots(first: $first, after: $after) {
    __typename
    edges {
      __typename
      node {
        __typename
        id
        stats(from: $from, to: $to) {
          __typename
          runs
          failed
          latencyP95
          perHour {
            __typename
            startedAt
            runs
            failed
          }
        }
      }
    }
  }
}`,
  `query FindRun($id: ID!) {
  run(id: $id) {
    __typename
    id
    bot {
      __typename
      id
      name
    }
  }
}`,
  `query WebChat($id: ID!) {
  bot(id: $id) {
    __typename
    id
    name
    webUrl
    ...WebChatSettings
    chatPage {
      __typename
      name
    }
    activeDeployment(environment: PRODUCTION) {
      __typename
      id
      channelStates {
        __typename
        ...ChannelWithState
      }
    }
  }
}

fragment WebChatSettings on Bot {
  webOrigins
  visitorSessionsPerHour
  visitorMessagesPerMinute
}

fragment ChannelWithState on ChannelState {
  channel
  status
  problem
}`,
  `mutation ChangeWebChat($id: ID!, $webOrigins: [String!], $visitorSessionsPerHour: Int, $visitorMessagesPerMinute: Int) {
  updateBot(
    id: $id
    input: {webOrigins: $webOrigins, visitorSessionsPerHour: $visitorSessionsPerHour, visitorMessagesPerMinute: $visitorMessagesPerMinute}
  ) {
    __typename
    id
    ...WebChatSettings
  }
}

fragment WebChatSettings on Bot {
  webOrigins
  visitorSessionsPerHour
  visitorMessagesPerMinute
}`,
  `subscription Chat($botId: ID!, $input: ChatInput!, $definition: String, $envVars: [EnvVarInput!]) {
  event: chat(
    botId: $botId
    input: $input
    definition: $definition
    envVars: $envVars
  ) {
    __typename
    ...ChatEvent
  }
}

fragment ChatEvent on ChatEvent {
  __typename
  ... on RunStarted {
    seq
    at
    runId
    sessionId
  }
  ... on TextDelta {
    seq
    at
    delta
  }
  ... on ToolStarted {
    seq
    at
    name
    callId
  }
  ... on ToolFinished {
    seq
    at
    name
    callId
    failed
    durationMs
  }
  ... on ChatDone {
    seq
    at
    runId
    latencyMs
    tokensUsed
  }
  ... on ChatFailed {
    seq
    at
    runId
    latencyMs
    code
    message
  }
  ... on ChatCancelled {
    seq
    at
    runId
    latencyMs
    tokensUsed
  }
}`,
  `subscription FollowRun($runId: ID!, $after: Int!) {
  event: runEvents(runId: $runId, after: $after) {
    __typename
    ...ChatEvent
  }
}

fragment ChatEvent on ChatEvent {
  __typename
  ... on RunStarted {
    seq
    at
    runId
    sessionId
  }
  ... on TextDelta {
    seq
    at
    delta
  }
  ... on ToolStarted {
    seq
    at
    name
    callId
  }
  ... on ToolFinished {
    seq
    at
    name
    callId
    failed
    durationMs
  }
  ... on ChatDone {
    seq
    at
    runId
    latencyMs
    tokensUsed
  }
  ... on ChatFailed {
    seq
    at
    runId
    latencyMs
    code
    message
  }
  ... on ChatCancelled {
    seq
    at
    runId
    latencyMs
    tokensUsed
  }
}`,
  `mutation StopRun($id: ID!) {
  cancelRun(id: $id) {
    __typename
    id
    status
  }
}`,
  `query Bot($id: ID!) {
  bot(id: $id) {
    __typename
    id
    name
    production: activeDeployment(environment: PRODUCTION) {
      __typename
      ...RunningDeployment
    }
    staging: activeDeployment(environment: STAGING) {
      __typename
      ...RunningDeployment
    }
  }
}

fragment RunningDeployment on Deployment {
  id
  version
  status
  message
  keyId
  createdAt
  deployedAt
  channels
}`,
  `query Running($botId: ID!, $environment: Environment!, $withSource: Boolean!) {
  bot(id: $botId) {
    __typename
    id
    name
    running: activeDeployment(environment: $environment) {
      __typename
      id
      version
      createdAt
      message
      envNames
      source @include(if: $withSource)
    }
  }
}`,
  `query DeploymentState($id: ID!) {
  node(id: $id) {
    __typename
    ... on Deployment {
      ...DeployOutcome
    }
  }
}

fragment DeployOutcome on Deployment {
  id
  status
  version
  environment
  channels
  active
  diagnostics {
    __typename
    severity
    code
    message
    line
    column
  }
  previous {
    __typename
    id
    version
  }
}`,
  `query CheckDeploy($botId: ID!, $input: DeployInput!) {
  check: checkDeploy(botId: $botId, input: $input) {
    __typename
    deployable
    diagnostics {
      __typename
      severity
      code
      message
      line
      column
    }
    envNames
  }
}`,
  `mutation Deploy($botId: ID!, $input: DeployInput!) {
  deploy(botId: $botId, input: $input) {
    __typename
    ...DeployOutcome
    bot {
      __typename
      id
    }
  }
}

fragment DeployOutcome on Deployment {
  id
  status
  version
  environment
  channels
  active
  diagnostics {
    __typename
    severity
    code
    message
    line
    column
  }
  previous {
    __typename
    id
    version
  }
}`,
  `subscription DeploymentChanges($botId: ID!) {
  deployment: deploymentChanged(botId: $botId) {
    __typename
    id
    status
    environment
    version
  }
}`,
  `query Deployments($botId: ID!, $first: Int, $after: String, $environment: Environment, $status: DeploymentStatus) {
  bot(id: $botId) {
    __typename
    id
    name
    production: activeDeployment(environment: PRODUCTION) {
      __typename
      id
    }
    staging: activeDeployment(environment: STAGING) {
      __typename
      id
    }
    deployments(
      first: $first
      after: $after
      environment: $environment
      status: $status
    ) {
      __typename
      edges {
        __typename
        node {
          __typename
          ...ListedDeployment
        }
      }
      pageInfo {
        __typename
        hasNextPage
        endCursor
      }
    }
  }
}

fragment ListedDeployment on Deployment {
  id
  version
  environment
  status
  message
  createdAt
  keyId
  rolledBackTo {
    __typename
    id
    version
  }
}`,
  `query Deployment($id: ID!, $withSource: Boolean!) {
  node(id: $id) {
    __typename
    ... on Deployment {
      ...ListedDeployment
      bot {
        __typename
        id
        name
      }
      active
      deployedAt
      channelStates {
        __typename
        ...ChannelWithState
      }
      envNames
      sentEnvNames
      source @include(if: $withSource)
      diagnostics {
        __typename
        severity
        code
        message
        line
        column
      }
      previous {
        __typename
        id
        version
        envNames
        source @include(if: $withSource)
      }
    }
  }
}

fragment ListedDeployment on Deployment {
  id
  version
  environment
  status
  message
  createdAt
  keyId
  rolledBackTo {
    __typename
    id
    version
  }
}

fragment ChannelWithState on ChannelState {
  channel
  status
  problem
}`,
  `mutation Rollback($botId: ID!, $deploymentId: ID!, $message: String, $idempotencyKey: String!) {
  rollback(
    botId: $botId
    deploymentId: $deploymentId
    message: $message
    idempotencyKey: $idempotencyKey
  ) {
    __typename
    ...DeployOutcome
  }
}

fragment DeployOutcome on Deployment {
  id
  status
  version
  environment
  channels
  active
  diagnostics {
    __typename
    severity
    code
    message
    line
    column
  }
  previous {
    __typename
    id
    version
  }
}`,
  `mutation PromoteStaging($botId: ID!, $deploymentId: ID!, $message: String, $idempotencyKey: String!) {
  promote(
    botId: $botId
    deploymentId: $deploymentId
    message: $message
    idempotencyKey: $idempotencyKey
  ) {
    __typename
    ...DeployOutcome
  }
}

fragment DeployOutcome on Deployment {
  id
  status
  version
  environment
  channels
  active
  diagnostics {
    __typename
    severity
    code
    message
    line
    column
  }
  previous {
    __typename
    id
    version
  }
}`,
  `query Keys {
  viewer {
    __typename
    account {
      __typename
      id
      apiKeys {
        __typename
        ...ListedKey
      }
    }
  }
}

fragment ListedKey on ApiKey {
  id
  name
  prefix
  scopes
  bots {
    __typename
    id
    name
  }
  createdAt
  createdBy {
    __typename
    id
    name
  }
  lastUsedAt
  expiresAt
  revokedAt
}`,
  `mutation CreateKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    __typename
    secret
    apiKey {
      __typename
      id
    }
  }
}`,
  `mutation UpdateKey($id: ID!, $input: UpdateApiKeyInput!) {
  updateApiKey(id: $id, input: $input) {
    __typename
    ...ListedKey
  }
}

fragment ListedKey on ApiKey {
  id
  name
  prefix
  scopes
  bots {
    __typename
    id
    name
  }
  createdAt
  createdBy {
    __typename
    id
    name
  }
  lastUsedAt
  expiresAt
  revokedAt
}`,
  `mutation RotateKey($id: ID!, $overlapHours: Int!) {
  rotateApiKey(id: $id, overlapHours: $overlapHours) {
    __typename
    secret
  }
}`,
  `mutation RevokeKey($id: ID!, $withCreated: Boolean!) {
  revokeApiKey(id: $id, withCreated: $withCreated) {
    __typename
    id
  }
}`,
  `query AuditLog($first: Int, $after: String, $filter: AuditFilter) {
  viewer {
    __typename
    account {
      __typename
      id
      auditLog(first: $first, after: $after, filter: $filter) {
        __typename
        edges {
          __typename
          node {
            __typename
            id
            action
            keyId
            botId
            targetId
            createdAt
          }
        }
        pageInfo {
          __typename
          hasNextPage
          endCursor
        }
      }
    }
  }
}`,
  `query Usage($ofRuns: Boolean!, $byKey: Boolean!) {
  viewer {
    __typename
    rateLimit {
      __typename
      perMinute
      perDay
    }
    usage {
      __typename
      requestsThisMinute
      requestsToday
      tokensThisMonth @include(if: $ofRuns)
      byBot @include(if: $ofRuns) {
        __typename
        bot {
          __typename
          id
          name
        }
        requests
        tokens
      }
      byKey @include(if: $byKey) {
        __typename
        apiKey {
          __typename
          id
          name
        }
        requests
        tokens
      }
    }
  }
}`,
  `mutation ChatWhole($botId: ID!, $input: ChatInput!) {
  chat(botId: $botId, input: $input) {
    __typename
    response
    runId
    latencyMs
    tokensUsed
    toolsCalled
  }
}`,
  `query RunTrace($id: ID!) {
  run(id: $id) {
    __typename
    id
    status
    model
    promptTokens
    completionTokens
    tokensEstimated
    trace {
      __typename
      traceId
      spans {
        __typename
        spanId
        parentId
        name
        startedAt
        durationMs
        status
        attributes
      }
    }
  }
}`,
  `query Limits {
  viewer {
    __typename
    rateLimit {
      __typename
      perMinute
      perDay
      remainingMinute
      remainingDay
      resetAt
    }
  }
}`,
  `query DeployedSource($id: ID!) {
  node(id: $id) {
    __typename
    ... on Deployment {
      id
      source
    }
  }
}`,
  `mutation CreateTemporaryKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    __typename
    secret
    apiKey {
      __typename
      id
      expiresAt
    }
  }
}`,
  `mutation RevokeTemporaryKey($id: ID!) {
  revokeApiKey(id: $id) {
    __typename
    id
    revokedAt
  }
}`,
  `query Runs($botId: ID!, $first: Int, $after: String, $filter: RunFilter) {
  runs(botId: $botId, first: $first, after: $after, filter: $filter) {
    __typename
    edges {
      __typename
      node {
        __typename
        ...ListedRun
      }
    }
    pageInfo {
      __typename
      hasNextPage
      endCursor
    }
  }
}

fragment ListedRun on Run {
  id
  status
  kind
  channel
  environment
  createdAt
  user
  inputExcerpt
  responseExcerpt
  latencyMs
  tokensUsed
  model
  error {
    __typename
    code
  }
  deployment {
    __typename
    id
  }
  feedback {
    __typename
    rating
  }
}`,
  `query RunsById($ids: [ID!]!) {
  nodes(ids: $ids) {
    __typename
    ... on Run {
      ...ListedRun
    }
  }
}

fragment ListedRun on Run {
  id
  status
  kind
  channel
  environment
  createdAt
  user
  inputExcerpt
  responseExcerpt
  latencyMs
  tokensUsed
  model
  error {
    __typename
    code
  }
  deployment {
    __typename
    id
  }
  feedback {
    __typename
    rating
  }
}`,
  `subscription RunChanges($botId: ID!, $filter: RunFilter) {
  run: runChanged(botId: $botId, filter: $filter) {
    __typename
    ...ListedRun
  }
}

fragment ListedRun on Run {
  id
  status
  kind
  channel
  environment
  createdAt
  user
  inputExcerpt
  responseExcerpt
  latencyMs
  tokensUsed
  model
  error {
    __typename
    code
  }
  deployment {
    __typename
    id
  }
  feedback {
    __typename
    rating
  }
}`,
  `query RunStats($botId: ID!, $from: DateTime!, $to: DateTime!, $filter: RunFilter, $byHour: Boolean!) {
  bot(id: $botId) {
    __typename
    id
    stats(from: $from, to: $to, filter: $filter) {
      __typename
      runs
      failed
      latencyP50
      latencyP95
      tokens
      thumbsUp
      thumbsDown
      perHour @include(if: $byHour) {
        __typename
        startedAt
        runs
        failed
        latencyP50
        latencyP95
        tokens
        thumbsUp
        thumbsDown
      }
      perDay @skip(if: $byHour) {
        __typename
        date
        runs
        failed
        latencyP50
        latencyP95
        tokens
        thumbsUp
        thumbsDown
      }
    }
  }
}`,
  `query RunNeighbours($botId: ID!, $cursor: String!, $filter: RunFilter) {
  newer: runs(botId: $botId, last: 1, before: $cursor, filter: $filter) {
    __typename
    edges {
      __typename
      node {
        __typename
        id
      }
    }
  }
  older: runs(botId: $botId, first: 1, after: $cursor, filter: $filter) {
    __typename
    edges {
      __typename
      node {
        __typename
        id
      }
    }
  }
}`,
  `query Run($id: ID!) {
  run(id: $id) {
    __typename
    id
    cursor
    status
    kind
    channel
    environment
    createdAt
    startedAt
    finishedAt
    latencyMs
    promptTokens
    completionTokens
    tokensUsed
    tokensEstimated
    cachedTokens
    reasoningTokens
    finishReason
    model
    user
    sessionId
    input
    context
    response
    metadata
    toolsCalled
    error {
      __typename
      code
      message
      detail
    }
    bot {
      __typename
      id
      name
    }
    deployment {
      __typename
      id
      version
      message
      createdAt
      active
    }
    feedback {
      __typename
      ...GivenFeedback
    }
    trace {
      __typename
      traceId
      spans {
        __typename
        spanId
        parentId
        name
        startedAt
        durationMs
        status
        attributes
      }
    }
  }
}

fragment GivenFeedback on Feedback {
  rating
  note
  keyId
  createdAt
  updatedAt
}`,
  `query RunPrompt($id: ID!) {
  run(id: $id) {
    __typename
    id
    prompt {
      __typename
      complete
      parts {
        __typename
        step
        role
        text
      }
    }
  }
}`,
  `mutation AddFeedback($runId: ID!, $rating: FeedbackRating!, $note: String) {
  addFeedback(runId: $runId, rating: $rating, note: $note) {
    __typename
    ...GivenFeedback
  }
}

fragment GivenFeedback on Feedback {
  rating
  note
  keyId
  createdAt
  updatedAt
}`,
  `mutation RemoveFeedback($runId: ID!) {
  removeFeedback(runId: $runId)
}`,
  `subscription RunExport($botId: ID!, $filter: RunFilter, $format: ExportFormat!) {
  part: runExport(botId: $botId, filter: $filter, format: $format) {
    __typename
    text
    rows
    done
    truncated
  }
}`,
  `query Viewer {
  viewer {
    __typename
    account {
      __typename
      id
      name
      plan
    }
    apiKey {
      __typename
      id
      name
      prefix
      scopes
      expiresAt
      bots {
        __typename
        id
      }
    }
    rateLimit {
      __typename
      perMinute
      perDay
      remainingMinute
      remainingDay
      resetAt
    }
  }
}`,
  `query Sessions($botId: ID!, $environment: Environment!, $first: Int, $after: String) {
  bot(id: $botId) {
    __typename
    id
    sessions(environment: $environment, first: $first, after: $after) {
      __typename
      edges {
        __typename
        node {
          __typename
          id
          sessionId
          turns
          lastSeenAt
          messages(last: 1) {
            __typename
            edges {
              __typename
              node {
                __typename
                id
                text
              }
            }
          }
        }
      }
      pageInfo {
        __typename
        hasNextPage
        endCursor
      }
    }
  }
}`,
  `query Conversation($botId: ID!, $environment: Environment!, $sessionId: String!, $first: Int, $after: String, $last: Int, $before: String) {
  bot(id: $botId) {
    __typename
    id
    session(id: $sessionId, environment: $environment) {
      __typename
      id
      turns
      lastSeenAt
      memory {
        __typename
        name
        value
        updatedAt
      }
      messages(first: $first, after: $after, last: $last, before: $before) {
        __typename
        edges {
          __typename
          node {
            __typename
            id
            role
            text
            toolName
            run {
              __typename
              id
              status
              createdAt
              latencyMs
              tokensUsed
              feedback {
                __typename
                ...GivenFeedback
              }
            }
          }
        }
        pageInfo {
          __typename
          hasPreviousPage
          hasNextPage
          startCursor
          endCursor
        }
      }
    }
  }
}

fragment GivenFeedback on Feedback {
  rating
  note
  keyId
  createdAt
  updatedAt
}`,
  `subscription SessionRuns($botId: ID!, $filter: RunFilter) {
  run: runChanged(botId: $botId, filter: $filter) {
    __typename
    id
    status
  }
}`,
  `mutation SetFact($botId: ID!, $environment: Environment!, $sessionId: String!, $name: String!, $value: String) {
  setMemory(
    botId: $botId
    environment: $environment
    sessionId: $sessionId
    name: $name
    value: $value
  ) {
    __typename
    id
  }
}`,
  `mutation ForgetSession($botId: ID!, $environment: Environment!, $sessionId: String!) {
  forgetSession(botId: $botId, environment: $environment, sessionId: $sessionId)
}`,
  `query VisitHistory($botId: ID!, $last: Int!, $before: String) {
  bot(id: $botId) {
    __typename
    session {
      __typename
      sessionId
      messages(last: $last, before: $before) {
        __typename
        edges {
          __typename
          node {
            __typename
            id
            role
            text
            createdAt
          }
        }
        pageInfo {
          __typename
          hasPreviousPage
          startCursor
        }
      }
    }
  }
}`,
  `query VisitSession($botId: ID!) {
  bot(id: $botId) {
    __typename
    session {
      __typename
      sessionId
    }
  }
}`,
  `mutation ForgetVisit($botId: ID!, $sessionId: String!) {
  forgetSession(botId: $botId, sessionId: $sessionId)
}`,
];
