import Markdown from '../chat/markdown.tsx';
import { Icon } from '../parts/icon.tsx';
import './opening.css';

/** What a visitor reads before the first message. */
export function Welcome({ text, isFirst }: { text: string; isFirst: boolean }) {
  return (
    <div className={isFirst ? 'message-reply welcome' : 'message-reply'}>
      <Markdown text={text} />
    </div>
  );
}

/** Texts that a visitor may send as the first message. */
export function Suggestions({
  texts,
  onChoose,
}: {
  texts: readonly string[];
  onChoose: ((text: string) => void) | undefined;
}) {
  if (texts.length === 0) return null;
  return (
    <ul className="suggestions" aria-label="Suggestions">
      {[...new Set(texts)].map((text) => (
        <li key={text}>
          <button type="button" dir="auto" onClick={() => onChoose?.(text)}>
            <span>{text}</span>
            <Icon name="chevron" />
          </button>
        </li>
      ))}
    </ul>
  );
}
