/** A message with everything that is sent with it. */
export type Call = {
  botId: string;
  message: string;
  /** Absent only for the first message to a draft, whose session the server names. */
  sessionId?: string | undefined;
  environment: 'PRODUCTION' | 'STAGING';
  /** How the call is sent. REST needs the key of `rest-key.ts`. */
  protocol: 'graphql' | 'rest';
  /** Whether the reply is streamed. Otherwise it arrives whole. */
  isStreamed: boolean;
  context?: Record<string, unknown> | undefined;
  onBusy?: 'ENQUEUE' | 'REJECT' | undefined;
  idempotencyKey?: string | undefined;
  /** Whether the model is offered no tools. Only GraphQL takes it. */
  withoutTools?: boolean | undefined;
  /** A definition that answers in place of the deployed one, with separate variables. Only a GraphQL stream takes it. */
  draft?: { definition: string; envVars: { name: string; value: string }[] } | undefined;
};
