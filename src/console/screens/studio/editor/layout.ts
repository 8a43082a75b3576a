import { foldService, indentService, indentUnit } from '@codemirror/language';
import { EditorState, type Extension } from '@codemirror/state';
import { indexBefore, type Syntax, stringAt } from '../language/syntax.ts';
import { syntaxField } from './state.ts';

type Fold = { from: number; to: number };

const folds = new WeakMap<Syntax, ReadonlyMap<number, Fold>>();

/** The blocks and long texts that can be folded, by the offset of the line that opens them. */
export function foldsOf(syntax: Syntax): ReadonlyMap<number, Fold> {
  const known = folds.get(syntax) ?? findFolds(syntax);
  folds.set(syntax, known);
  return known;
}

function findFolds({ tokens, source: { text } }: Syntax): Map<number, Fold> {
  const found = new Map<number, Fold>();
  const open: number[] = [];
  const add = (from: number, to: number) => {
    if (text.slice(from, to).includes('\n'))
      found.set(text.lastIndexOf('\n', from - 1) + 1, { from, to });
  };
  for (const { kind, start, end, broken } of tokens) {
    if (kind === 'triple' && !broken) add(start + 3, end - 3);
    if (kind === '{') open.push(end);
    const from = kind === '}' ? open.pop() : undefined;
    if (from !== undefined) add(from, start);
  }
  return found;
}

/** How deep the blocks are nested at an offset. */
export function depthAt(syntax: Syntax, offset: number): number {
  const before = syntax.tokens.slice(0, indexBefore(syntax, offset) + 1);
  const depth = before.reduce(
    (sum, { kind }) => sum + (kind === '{' ? 1 : kind === '}' ? -1 : 0),
    0,
  );
  return Math.max(0, depth);
}

/** Folding and indentation by braces, comments by `#`, closing brackets and quotes. */
export const layout: Extension = [
  indentUnit.of('  '),
  foldService.of((state, lineStart) => foldsOf(state.field(syntaxField)).get(lineStart) ?? null),
  indentService.of((context, offset) => {
    const syntax = context.state.field(syntaxField);
    // The lines of a text keep the indentation of the line before.
    if (stringAt(syntax, offset)) return undefined;
    const closes = /^\s*\}/.test(context.textAfterPos(offset));
    return (depthAt(syntax, offset) - (closes ? 1 : 0)) * context.unit;
  }),
  EditorState.languageData.of(() => [
    {
      commentTokens: { line: '#' },
      closeBrackets: { brackets: ['{', '[', '"', '"""'] },
      indentOnInput: /^\s*\}$/,
    },
  ]),
];
