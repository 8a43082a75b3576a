/** What a key may do. */
export const SCOPES = ['chat', 'deploy', 'runs', 'admin', 'operator'] as const;

export type Scope = (typeof SCOPES)[number];
