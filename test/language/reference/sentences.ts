/** Sentences of the reference, verbatim, each with the function that tests it. */
export type Sentences = Record<string, () => void | Promise<void>>;
