import { operation } from './operation.ts';

type EnvironmentName = 'PRODUCTION' | 'STAGING';
type StatusName = 'PENDING' | 'DEPLOYED' | 'FAILED';

/** The fields of a deployment in REST responses. */
export type DeploymentData = {
  id: string;
  bot: { id: string };
  environment: EnvironmentName;
  status: StatusName;
  message: string | null;
  channels: ('API' | 'WEB' | 'TELEGRAM')[];
  diagnostics: {
    severity: 'ERROR' | 'WARNING';
    code: string;
    message: string;
    line: number;
    column: number;
  }[];
  active: boolean;
  createdAt: Date;
  deployedAt: Date | null;
  rolledBackTo: { id: string } | null;
};

const DEPLOYMENT = /* GraphQL */ `
  fragment DeploymentData on Deployment {
    id
    bot {
      id
    }
    environment
    status
    message
    channels
    diagnostics {
      severity
      code
      message
      line
      column
    }
    active
    createdAt
    deployedAt
    rolledBackTo {
      id
    }
  }
`;

export type DeployVariables = {
  botId: string;
  input: {
    source: string;
    environment?: EnvironmentName;
    message?: string;
    envVars: { name: string; value: string }[];
    unsetEnvVars: string[];
    idempotencyKey?: string;
  };
};

export const deploy = operation<DeployVariables, { deploy: DeploymentData }>(/* GraphQL */ `
  mutation Deploy($botId: ID!, $input: DeployInput!) {
    deploy(botId: $botId, input: $input) {
      ...DeploymentData
    }
  }
  ${DEPLOYMENT}
`);

export type RollbackVariables = {
  botId: string;
  deploymentId: string;
  message?: string;
  idempotencyKey?: string;
};

export const rollback = operation<RollbackVariables, { rollback: DeploymentData }>(/* GraphQL */ `
  mutation Rollback($botId: ID!, $deploymentId: ID!, $message: String, $idempotencyKey: String) {
    rollback(
      botId: $botId
      deploymentId: $deploymentId
      message: $message
      idempotencyKey: $idempotencyKey
    ) {
      ...DeploymentData
    }
  }
  ${DEPLOYMENT}
`);

export type ListDeploymentsVariables = {
  botId: string;
  first: number;
  after?: string;
  environment?: EnvironmentName;
  status?: StatusName;
};

export const listDeployments = operation<
  ListDeploymentsVariables,
  {
    bot: {
      deployments: {
        edges: { node: DeploymentData }[];
        pageInfo: { hasNextPage: boolean; endCursor: string | null };
      };
    };
  }
>(/* GraphQL */ `
  query ListDeployments(
    $botId: ID!
    $first: Int
    $after: String
    $environment: Environment
    $status: DeploymentStatus
  ) {
    bot(id: $botId) {
      deployments(first: $first, after: $after, environment: $environment, status: $status) {
        edges {
          node {
            ...DeploymentData
          }
        }
        pageInfo {
          hasNextPage
          endCursor
        }
      }
    }
  }
  ${DEPLOYMENT}
`);
