import type { Sentence } from '../language/help.ts';

/** Sentences of the reference as elements, for CodeMirror's tooltips. */
export function sentencesView(sentences: readonly Sentence[]): HTMLElement {
  const view = document.createElement('div');
  view.className = 'cm-manual';
  for (const sentence of sentences) {
    const paragraph = document.createElement('p');
    for (const part of sentence)
      paragraph.append(typeof part === 'string' ? part : code(part.code));
    view.append(paragraph);
  }
  return view;
}

function code(text: string): HTMLElement {
  const element = document.createElement('code');
  element.textContent = text;
  return element;
}
