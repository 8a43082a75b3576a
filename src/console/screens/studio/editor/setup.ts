import {
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  indentOnInput,
} from '@codemirror/language';
import { lintGutter, nextDiagnostic, previousDiagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from '@codemirror/view';
import { complete } from './completion.ts';
import { highlighting } from './highlighting.ts';
import { hoverHelp } from './hover.ts';
import { layout } from './layout.ts';
import { serverFindings, syntaxField } from './state.ts';
import { theme } from './theme.ts';
import { typeOver } from './type-over.ts';

/** The editor of a definition, without what depends on its screen. */
export const setup: Extension = [
  syntaxField,
  serverFindings,
  highlighting,
  layout,
  theme,
  lineNumbers(),
  lintGutter(),
  foldGutter(),
  codeFolding(),
  history(),
  drawSelection(),
  highlightSpecialChars(),
  highlightActiveLine(),
  highlightActiveLineGutter(),
  highlightSelectionMatches(),
  search({ top: true }),
  bracketMatching({ maxScanDistance: 2_000 }),
  closeBrackets(),
  indentOnInput(),
  autocompletion({ override: [complete] }),
  hoverHelp,
  typeOver,
  EditorState.tabSize.of(2),
  EditorView.lineWrapping,
  // A byte order mark would move every position by one.
  EditorView.clipboardInputFilter.of((text) => text.replaceAll('\uFEFF', '')),
  EditorView.contentAttributes.of({
    'aria-label': 'Definition',
    spellcheck: 'false',
    autocapitalize: 'off',
  }),
  keymap.of([
    ...closeBracketsKeymap,
    ...completionKeymap,
    { key: 'F8', run: nextDiagnostic },
    { key: 'Shift-F8', run: previousDiagnostic },
    ...searchKeymap,
    ...historyKeymap,
    ...foldKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]),
];
