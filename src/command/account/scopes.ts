/** The scopes of a key. */
export const SCOPES = ['chat', 'deploy', 'runs', 'admin', 'operator'] as const;

export type Scope = (typeof SCOPES)[number];
