import {
  type Extension,
  Prec,
  RangeSet,
  StateEffect,
  StateField,
  type Text,
} from '@codemirror/state';
import { type EditorView, GutterMarker, gutter, keymap } from '@codemirror/view';
import type { EvaluationVerdict } from '../../../../generated/operations/console.ts';

/** The state of a test of the current text: its verdict, or that it runs. */
export type TestMark = EvaluationVerdict | 'RUNNING';

/** A test, with the offset at which it begins. */
type Place = { name: string; from: number };

/** Shows the tests of a valid text. */
export const showTests = StateEffect.define<readonly Place[]>();
/** Marks tests, until the text changes. */
export const markTests = StateEffect.define<ReadonlyMap<string, TestMark>>();

const places = StateField.define<readonly Place[]>({
  create: () => [],
  update(before, { changes, effects }) {
    const shown = effects.find((effect) => effect.is(showTests));
    if (shown?.is(showTests)) return shown.value;
    if (changes.empty) return before;
    return before.map(({ name, from }) => ({ name, from: changes.mapPos(from) }));
  },
});

const marks = StateField.define<ReadonlyMap<string, TestMark>>({
  create: () => new Map(),
  update(before, { docChanged, effects }) {
    const kept = docChanged ? new Map<string, TestMark>() : before;
    const marked = effects.find((effect) => effect.is(markTests));
    return marked?.is(markTests) ? new Map([...kept, ...marked.value]) : kept;
  },
});

const LOOKS: Record<TestMark | 'NONE', { sign: string; word: string }> = {
  NONE: { sign: '▷', word: 'not run' },
  RUNNING: { sign: '…', word: 'running' },
  PASSED: { sign: '✓', word: 'passed' },
  FAILED: { sign: '✗', word: 'failed' },
  DIVERGED: { sign: '≠', word: 'diverged' },
  SKIPPED: { sign: '–', word: 'skipped' },
};

class TestMarker extends GutterMarker {
  private readonly name: string;
  private readonly mark: TestMark | undefined;

  constructor(name: string, mark: TestMark | undefined) {
    super();
    this.name = name;
    this.mark = mark;
  }

  override eq(other: TestMarker) {
    return this.name === other.name && this.mark === other.mark;
  }

  override toDOM() {
    const { sign, word } = LOOKS[this.mark ?? 'NONE'];
    const element = document.createElement('span');
    element.className = `cm-test cm-test-${(this.mark ?? 'none').toLowerCase()}`;
    element.textContent = sign;
    element.title = `Run the test “${this.name}” (${word})`;
    return element;
  }
}

/** The test that begins in a line, or the last one that begins before it. */
function testAt({ state }: EditorView, offset: number, isExact: boolean): Place | undefined {
  const line = state.doc.lineAt(offset);
  const candidates = state.field(places).filter(({ from }) => from <= line.to);
  return candidates.findLast(({ from }) => !isExact || from >= line.from);
}

function lineStart(doc: Text, { from }: Place): number {
  return doc.lineAt(Math.min(from, doc.length)).from;
}

/** Marks each test with its verdict. A click on a mark runs the test; so does Alt-Enter, for the test at the cursor. */
export function testGutter(onRun: (name: string) => void): Extension {
  const runAt = (view: EditorView, offset: number, isExact: boolean) => {
    const test = testAt(view, offset, isExact);
    if (test) onRun(test.name);
    return test !== undefined;
  };
  return [
    places,
    marks,
    // Beside the text, behind the gutters of the line.
    Prec.low(
      gutter({
        class: 'cm-gutter-tests',
        markers: ({ state }) =>
          RangeSet.of(
            state
              .field(places)
              .map((place) =>
                new TestMarker(place.name, state.field(marks).get(place.name)).range(
                  lineStart(state.doc, place),
                ),
              ),
            true,
          ),
        domEventHandlers: { click: (view, { from }) => runAt(view, from, true) },
      }),
    ),
    keymap.of([
      { key: 'Alt-Enter', run: (view) => runAt(view, view.state.selection.main.head, false) },
    ]),
  ];
}
