import { accentStyle } from './accent-style.ts';
import './chat-preview.css';
import { ChatTitle } from './chat-title.tsx';
import { Suggestions, Welcome } from './opening.tsx';
import type { Page } from './page.ts';

/** The beginning of a conversation as visitors of the chat page see it. */
export function ChatPreview({
  page: { title, accent, logo, welcome, suggestions },
  onSuggestion,
}: {
  page: Omit<Page, 'bot'>;
  /** Absent: a suggestion does nothing. */
  onSuggestion?: (text: string) => void;
}) {
  return (
    <section className="chat-preview" style={accentStyle(accent)} aria-label="The chat page">
      <header>
        <ChatTitle title={title} logo={logo} heading="p" />
      </header>
      <div className="chat-preview-body">
        {welcome && <Welcome text={welcome} isFirst />}
        <Suggestions texts={suggestions} onChoose={onSuggestion} />
      </div>
    </section>
  );
}
