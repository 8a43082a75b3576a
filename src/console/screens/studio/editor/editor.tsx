import { Compartment, EditorState, type Extension } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { controlsOf, type OpenEditor } from './commands.ts';
import { type Findings, reading } from './reading.ts';
import { setup } from './setup.ts';
import { deployedNames } from './state.ts';
import { testGutter } from './test-gutter.ts';

/** What the screen does when something happens in the editor. */
export type EditorEvents = {
  /** The editor is in the page. */
  onOpen(editor: OpenEditor): void;
  onChange(text: string): void;
  /** The text was checked. */
  onRead(findings: Findings): void;
  /** Ctrl-S was pressed. */
  onSave(): void;
  /** F2 was pressed. */
  onRename(): void;
  /** Shift-Alt-F was pressed. */
  onFormat(): void;
  /** The mark of a test was clicked, or Alt-Enter was pressed in it. */
  onRunTest(name: string): void;
};

/**
 * The editor of a definition. It lives in a shadow root, because CodeMirror puts its styles there into a constructed style
 * sheet, which the Content Security Policy allows, and into a `<style>` element everywhere else, which it forbids.
 */
export default function Editor({
  initial,
  variables,
  ...events
}: {
  initial: string;
  /** The names of the variables that have a value. Undefined if nothing is deployed. */
  variables: readonly string[] | undefined;
} & EditorEvents) {
  const host = useRef<HTMLDivElement>(null);
  const emit = useEffectEvent<Emit>((event) => event(events));
  const [names] = useState(() => new Compartment());
  const [view, setView] = useState<EditorView>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the editor keeps its text from then on
  useEffect(() => {
    if (!host.current) return undefined;
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' });
    const opened = open(root, initial, [names.of(deployedNames.of(variables)), connect(emit)]);
    setView(opened);
    emit((to) => to.onOpen(controlsOf(opened)));
    return () => opened.destroy();
  }, []);
  useEffect(() => {
    view?.dispatch({ effects: names.reconfigure(deployedNames.of(variables)) });
  }, [view, names, variables]);
  return <div ref={host} className="studio-editor" />;
}

function open(root: ShadowRoot, doc: string, extensions: Extension): EditorView {
  const state = EditorState.create({ doc, extensions: [extensions, setup] });
  return new EditorView({ state, root, parent: root });
}

/** Calls an event of the screen's latest rendering. */
type Emit = (event: (events: EditorEvents) => void) => void;

/** Connects what happens in the editor with the events of the screen. */
function connect(emit: Emit): Extension {
  const key = (name: string, event: Parameters<Emit>[0]) => ({
    key: name,
    preventDefault: true,
    run: () => {
      emit(event);
      return true;
    },
  });
  return [
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) emit((to) => to.onChange(state.doc.toString()));
    }),
    reading((findings) => emit((to) => to.onRead(findings))),
    testGutter((name) => emit((to) => to.onRunTest(name))),
    keymap.of([
      key('Mod-s', (to) => to.onSave()),
      key('F2', (to) => to.onRename()),
      key('Shift-Alt-f', (to) => to.onFormat()),
    ]),
  ];
}
