// Written by `npm run documents`. Edit the .graphql files instead.

/** The texts of the console's operations. */
export const CONSOLE_DOCUMENTS = [
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
