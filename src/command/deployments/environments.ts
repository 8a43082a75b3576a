/** The environments of a bot. */
export const ENVIRONMENTS = ['production', 'staging'] as const;

export type BotEnvironment = (typeof ENVIRONMENTS)[number];

/** The name of an environment in GraphQL. */
export const GRAPHQL_ENVIRONMENT = { production: 'PRODUCTION', staging: 'STAGING' } as const;
