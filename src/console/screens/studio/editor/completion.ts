import { help } from 'virtual:language-help';
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  snippet,
} from '@codemirror/autocomplete';
import { completionsAt } from '../language/complete.ts';
import { sentencesOn, topicOfOption } from '../language/help.ts';
import { blockAt } from '../language/syntax.ts';
import { sentencesView } from './sentences.ts';
import { deployedNames, syntaxField } from './state.ts';

/** Completes words, names and paths of templates. An empty place completes on demand, except after `{{`, `.` and `,`. */
export function complete({ state, pos, explicit }: CompletionContext): CompletionResult | null {
  const syntax = state.field(syntaxField);
  const before = state.sliceDoc(Math.max(0, pos - 3), pos);
  const found = completionsAt(syntax, pos, state.facet(deployedNames));
  if (!found || (!explicit && found.from === pos && !/(?:\{\{ ?|\.)$/.test(before))) return null;
  const block = blockAt(syntax, found.from)?.block.name;
  const options = found.options.map((option): Completion => {
    const topic = topicOfOption(option, block);
    const sentences = topic ? sentencesOn(topic, help) : [];
    return {
      label: option.label,
      type: option.kind,
      ...(option.detail && { detail: option.detail }),
      ...(option.snippet && { apply: snippet(option.snippet) }),
      ...(sentences.length > 0 && { info: () => sentencesView(sentences) }),
    };
  });
  return { from: found.from, options, validFor: /^[\w.]*$/ };
}
