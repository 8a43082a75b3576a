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
  status
  message
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
  `subscription Chat($botId: ID!, $input: ChatInput!) {
  event: chat(botId: $botId, input: $input) {
    __typename
    ...ChatEvent
  }
}

fragment ChatEvent on ChatEvent {
  __typename
  ... on RunStarted {
    seq
    runId
    sessionId
  }
  ... on TextDelta {
    seq
    delta
  }
  ... on ToolStarted {
    seq
    name
    callId
  }
  ... on ToolFinished {
    seq
    name
    callId
    failed
    durationMs
  }
  ... on ChatDone {
    seq
    runId
    latencyMs
    tokensUsed
  }
  ... on ChatFailed {
    seq
    runId
    latencyMs
    code
    message
  }
  ... on ChatCancelled {
    seq
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
    runId
    sessionId
  }
  ... on TextDelta {
    seq
    delta
  }
  ... on ToolStarted {
    seq
    name
    callId
  }
  ... on ToolFinished {
    seq
    name
    callId
    failed
    durationMs
  }
  ... on ChatDone {
    seq
    runId
    latencyMs
    tokensUsed
  }
  ... on ChatFailed {
    seq
    runId
    latencyMs
    code
    message
  }
  ... on ChatCancelled {
    seq
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
  status
  message
  createdAt
  deployedAt
  channels
}`,
  `mutation Deploy($botId: ID!, $input: DeployInput!) {
  deploy(botId: $botId, input: $input) {
    __typename
    id
    status
    diagnostics {
      __typename
      severity
      code
      message
      line
      column
    }
    bot {
      __typename
      id
    }
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
  `query Conversation($botId: ID!, $environment: Environment!, $sessionId: String!, $last: Int!, $before: String) {
  bot(id: $botId) {
    __typename
    id
    session(id: $sessionId, environment: $environment) {
      __typename
      id
      memory {
        __typename
        name
        value
      }
      messages(last: $last, before: $before) {
        __typename
        edges {
          __typename
          node {
            __typename
            id
            role
            text
            run {
              __typename
              id
              status
              latencyMs
              tokensUsed
              toolsCalled
            }
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
  input
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
  input
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
      perHour @include(if: $byHour) {
        __typename
        startedAt
        runs
        failed
        latencyP50
        latencyP95
        tokens
      }
      perDay @skip(if: $byHour) {
        __typename
        date
        runs
        failed
        latencyP50
        latencyP95
        tokens
      }
    }
  }
}`,
  `query Run($id: ID!) {
  run(id: $id) {
    __typename
    id
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
    model
    user
    sessionId
    input
    response
    metadata
    toolsCalled
    error {
      __typename
      code
      message
    }
    bot {
      __typename
      id
      name
    }
    deployment {
      __typename
      id
      message
      createdAt
      active
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
];
