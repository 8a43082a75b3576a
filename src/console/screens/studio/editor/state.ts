import { Facet, StateEffect, StateField } from '@codemirror/state';
import type { Diagnostic } from '../../../../language/diagnostic.ts';
import { readSyntax, type Syntax } from '../language/syntax.ts';

/** The syntax of the editor's text. It is read again at each change, so that highlighting needs no second pass. */
export const syntaxField = StateField.define<Syntax>({
  create: ({ doc }) => readSyntax(doc.toString()),
  update: (syntax, { docChanged, newDoc }) => (docChanged ? readSyntax(newDoc.toString()) : syntax),
});

/** The names of the variables that have a value. Undefined if nothing is deployed, and then none is reported as unset. */
export const deployedNames = Facet.define<
  readonly string[] | undefined,
  readonly string[] | undefined
>({
  combine: ([names]) => names,
  // A change of the facet closes an open hint.
  compare: (one, other) => one?.join() === other?.join(),
});

/** A problem of a definition, of this browser or of the server. */
export type Finding = Omit<Diagnostic, 'code'> & { code: string };

/** Shows what the server found in the current text, until it changes. */
export const showServerFindings = StateEffect.define<readonly Finding[]>();

export const serverFindings = StateField.define<readonly Finding[]>({
  create: () => [],
  update(findings, { docChanged, effects }) {
    const shown = effects.find((effect) => effect.is(showServerFindings));
    if (shown?.is(showServerFindings)) return shown.value;
    return docChanged && findings.length > 0 ? [] : findings;
  },
});
