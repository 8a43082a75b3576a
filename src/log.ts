/** Where a part says what the operator should know. Fields never hold a message's text, a key or a secret. */
export type Log = {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};
