import type { HostileAccount } from './attack.ts';

/** Plans limit the attacks of their accounts, so several plans are used. */
const PLANS = ['FREE', 'FREE', 'FREE', 'PRO', 'PRO', 'BUSINESS', 'BUSINESS', 'BUSINESS'] as const;
/** The plan during the preparation, before the final plan is set. */
const PREPARATION = { plan: 'ENTERPRISE', requestsPerMinute: 1_000_000, requestsPerDay: 1_000_000 };

export type GraphQL = (
  apiKey: string,
  query: string,
  variables?: object,
  // biome-ignore lint/suspicious/noExplicitAny: the caller knows the shape of its query
) => Promise<any>;

/** Runs an operation. @throws if it has errors. */
export const graphqlAt =
  (url: string): GraphQL =>
  async (apiKey, query, variables) => {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = (await response.json()) as { data: unknown; errors?: unknown };
    if (errors) throw new Error(JSON.stringify(errors));
    return data;
  };

const CREATE_ACCOUNT = `mutation ($input: CreateAccountInput!) {
  createAccount(input: $input) { secret account { id } }
}`;
const CREATE_BOT = `mutation ($id: ID!) { createBot(input: { id: $id, name: "Bot" }) { id } }`;
const DEPLOY = `mutation ($botId: ID!, $source: String!) {
  deploy(botId: $botId, input: { source: $source, envVars: [{ name: "KEY", value: "hostile-key" }] }) {
    status
    diagnostics { message }
  }
}`;

/** Creates an account without limits. @returns its id and its key. */
export async function createAccount(graphql: GraphQL, operatorKey: string, name: string) {
  const input = { name, ...PREPARATION };
  const { createAccount } = await graphql(operatorKey, CREATE_ACCOUNT, { input });
  return { id: createAccount.account.id as string, apiKey: createAccount.secret as string };
}

/** Creates a bot and deploys a source to it. @throws if the source has errors. */
export async function createBot(graphql: GraphQL, apiKey: string, id: string, members: string) {
  const source = `agentlang 5\nagent "${id}" {\n${members}\n}\n`;
  await graphql(apiKey, CREATE_BOT, { id });
  const { deploy } = await graphql(apiKey, DEPLOY, { botId: id, source });
  if (deploy.status !== 'DEPLOYED') throw new Error(JSON.stringify(deploy.diagnostics));
  return id;
}

/** Creates the hostile accounts with their bots, and sets the plan of each. */
export async function createHostileAccounts(
  graphql: GraphQL,
  operatorKey: string,
  hostileUrl: string,
): Promise<HostileAccount[]> {
  const model = `model "hostile" { base_url "${hostileUrl}/v1" api_key env.KEY timeout 20s }`;
  const tools = `tools hostile {
    capability fetch "Fetches" {
      input { how string list string[]? }
      get "${hostileUrl}/tool?how={{ input.how }}" { timeout 5s }
    }
  }`;
  return Promise.all(
    PLANS.map(async (plan, index) => {
      const { id, apiKey } = await createAccount(graphql, operatorKey, `Hostile ${index}`);
      const bot = (name: string, members: string) =>
        createBot(graphql, apiKey, `hostile-${index}-${name}`, members);
      const account = {
        apiKey,
        modelBot: await bot('model', `prompt "Hostile"\n${model}\n${tools}`),
        mcpBot: await bot('mcp', `prompt "Hostile"\n${model}\ntools far mcp "${hostileUrl}/mcp"`),
        templateBot: await bot(
          'template',
          `prompt "${'{{ context }}'.repeat(900)}"\nmemory { name "A name" }`,
        ),
      };
      const update = `mutation ($id: ID!, $plan: Plan!) { updateAccount(id: $id, input: { plan: $plan }) { id } }`;
      await graphql(operatorKey, update, { id, plan });
      return account;
    }),
  );
}
