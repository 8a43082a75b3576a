import { type Action, type Diagnostic as Shown, setDiagnostics } from '@codemirror/lint';
import type { Extension, Text } from '@codemirror/state';
import { type EditorView, ViewPlugin, type ViewUpdate } from '@codemirror/view';
import type { AgentTest } from '../../../../language/agent-test.ts';
import { type ChatPageTexts, chatPageOf } from '../../../../language/chat-page.ts';
import type { Syntax } from '../language/syntax.ts';
import {
  deployedNames,
  type Finding,
  serverFindings,
  showServerFindings,
  syntaxField,
} from './state.ts';
import { showTests } from './test-gutter.ts';

/** What the checker found in the editor's text. */
export type Findings = {
  syntax: Syntax;
  findings: readonly Finding[];
  hasErrors: boolean;
  envNames: readonly string[];
  /** The tests of a valid text. */
  tests: readonly AgentTest[];
  /** The chat page of a valid text with `channel web`. */
  chatPage: ChatPageTexts | undefined;
};

/** Up to this length, a text is checked after each key press has shown; a longer one at a pause in typing. */
const SHORT = 65_536;
const PAUSE_MS = 250;

/** Checks the text with the server's own language, shows its problems, and reports them. */
export function reading(onRead: (findings: Findings) => void): Extension {
  return ViewPlugin.fromClass(
    class {
      private readonly view: EditorView;
      private cancel = () => {};

      constructor(view: EditorView) {
        this.view = view;
        this.schedule();
      }

      update({ docChanged, startState, state, transactions }: ViewUpdate) {
        const isRefused = transactions.some(({ effects }) =>
          effects.some((effect) => effect.is(showServerFindings)),
        );
        const hasOtherNames = startState.facet(deployedNames) !== state.facet(deployedNames);
        if (docChanged || isRefused || hasOtherNames) this.schedule();
      }

      schedule() {
        this.cancel();
        const { length } = this.view.state.doc;
        this.cancel =
          length > SHORT ? afterPause(() => this.read()) : afterFrame(() => this.read());
      }

      read() {
        const { state } = this.view;
        const syntax = state.field(syntaxField);
        const found = findingsIn(syntax, state.facet(deployedNames));
        const findings = [...found.findings, ...state.field(serverFindings)];
        const shown = findings.map((finding) => shownAs(finding, state.doc));
        this.view.dispatch(setDiagnostics(state, shown), {
          effects: showTests.of(
            found.tests.map(({ name, line, column }) => ({
              name,
              from: offsetAt(state.doc, line, column),
            })),
          ),
        });
        onRead({ ...found, findings, syntax });
      }

      destroy() {
        this.cancel();
      }
    },
  );
}

function findingsIn(syntax: Syntax, names: readonly string[] | undefined) {
  const { definition, envNames, tests, diagnose } = syntax.check();
  return {
    findings: diagnose(names),
    hasErrors: definition === null,
    envNames,
    tests,
    chatPage: definition ? chatPageOf(definition) : undefined,
  };
}

function afterPause(run: () => void): () => void {
  const timer = setTimeout(run, PAUSE_MS);
  return () => clearTimeout(timer);
}

/** Runs once the next frame is on the screen. */
function afterFrame(run: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const frame = requestAnimationFrame(() => {
    timer = setTimeout(run, 0);
  });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

/** The offset of a line and column, both from 1. */
export function offsetAt(doc: Text, line: number, column: number): number {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines));
  return Math.min(from + column - 1, to);
}

function shownAs(finding: Finding, doc: Text): Shown {
  const { severity, message, code, line, column, endLine, endColumn } = finding;
  const from = offsetAt(doc, line, column);
  const to = Math.max(from, offsetAt(doc, endLine, endColumn));
  const fix = fixOf(message, doc.sliceString(from, to));
  return {
    from,
    to,
    severity: severity === 'ERROR' ? 'error' : 'warning',
    message,
    source: code,
    ...(fix && { actions: [fix] }),
  };
}

/** Takes the suggestion of a message. In a path it replaces the last name. */
function fixOf(message: string, text: string): Action | undefined {
  const [, meant] = /did you mean "(\w+)"\?/.exec(message) ?? [];
  const [, before = ''] = /^((?:\w+\.)*)\w+$/.exec(text) ?? [];
  if (!meant || !/^[\w.]+$/.test(text)) return undefined;
  return {
    name: `Change to ${meant}`,
    apply: (view, from, to) =>
      view.dispatch({
        changes: { from: from + before.length, to, insert: meant },
        userEvent: 'input.fix',
      }),
  };
}
