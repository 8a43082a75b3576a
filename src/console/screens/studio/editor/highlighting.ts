import { RangeSetBuilder } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';
import { marksIn, type Role } from '../language/highlight.ts';
import { syntaxField } from './state.ts';

const decorations = new Map<Role, Decoration>();

function decorationOf(role: Role): Decoration {
  const known = decorations.get(role) ?? Decoration.mark({ class: `tok-${role}` });
  decorations.set(role, known);
  return known;
}

/** Marks the text in sight by the lexer's tokens and the parser's tree. */
export const highlighting = ViewPlugin.fromClass(
  class {
    decorations: DecorationSet;

    constructor(view: EditorView) {
      this.decorations = decorate(view);
    }

    update({ docChanged, viewportChanged, view }: ViewUpdate) {
      if (docChanged || viewportChanged) this.decorations = decorate(view);
    }
  },
  { decorations: (plugin) => plugin.decorations },
);

function decorate(view: EditorView): DecorationSet {
  const builder = new RangeSetBuilder<Decoration>();
  const syntax = view.state.field(syntaxField);
  let last = 0;
  for (const { from, to } of view.visibleRanges) {
    for (const mark of marksIn(syntax, from, to)) {
      // A token over two ranges, as around a fold, is marked once.
      if (mark.from < last) continue;
      builder.add(mark.from, mark.to, decorationOf(mark.role));
    }
    last = to;
  }
  return builder.finish();
}
