/** A completion that the editor offers. */
export type Option = {
  label: string;
  kind: 'keyword' | 'name' | 'type' | 'constant' | 'variable';
  detail?: string;
  /** Inserted in place of the label, in CodeMirror's syntax for snippets. */
  snippet?: string;
};
