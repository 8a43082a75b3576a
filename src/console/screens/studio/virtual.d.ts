declare module 'virtual:language-help' {
  /** The sentences of the language's reference. `build/language-help.ts` makes them from Markdown. */
  export const help: import('./language/help.ts').Help;
}
