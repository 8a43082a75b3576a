/** The operator's log. Fields must not contain the text of a chat message, a key or a secret. */
export type Log = {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
};
