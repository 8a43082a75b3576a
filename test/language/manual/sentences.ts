/** Sentences of the manual as they stand there, each with what proves it. */
export type Sentences = Record<string, () => void | Promise<void>>;
