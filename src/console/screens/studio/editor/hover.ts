import { help } from 'virtual:language-help';
import { hoverTooltip } from '@codemirror/view';
import { sentencesOn, topicAt } from '../language/help.ts';
import { sentencesView } from './sentences.ts';
import { syntaxField } from './state.ts';

/** Shows the reference's sentences on the word below the pointer. */
export const hoverHelp = hoverTooltip((view, offset) => {
  const topic = topicAt(view.state.field(syntaxField), offset);
  const sentences = topic ? sentencesOn(topic, help) : [];
  if (!topic || sentences.length === 0) return null;
  return {
    pos: topic.from,
    end: topic.to,
    create: () => ({ dom: sentencesView(sentences) }),
  };
});
