declare module 'virtual:guide' {
  /** The guide's pages in their order. `build/guide.ts` makes them from Markdown. */
  export const pages: import('./page.ts').PageEntry[];
}
