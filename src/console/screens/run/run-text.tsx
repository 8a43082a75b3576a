import { type ReactNode, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import './run.css';

const Markdown = lazyPart(() => import('../../chat/markdown.tsx'), PlainText);

/** Characters that show at first. The rest shows on demand, because a long text is slow to lay out. */
const MOST = 20_000;

/** The message or the reply of a run, with one button that copies all of it. */
export function RunText({
  title,
  text,
  isMarkdown = false,
  children,
}: {
  title: string;
  text: string;
  isMarkdown?: boolean;
  /** Shown below the text. */
  children?: ReactNode;
}) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > MOST && !isWhole;
  const shown = isCut ? text.slice(0, MOST) : text;
  return (
    <section className="run-text" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {text && <CopyButton label={`Copy: ${title.toLowerCase()}`} text={text} />}
      </header>
      {isMarkdown && text.length <= MOST ? <Markdown text={text} /> : <PlainText text={shown} />}
      {isCut && (
        <Button onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </Button>
      )}
      {children}
    </section>
  );
}

function PlainText({ text }: { text: string }) {
  return (
    <p className="run-text-plain" dir="auto">
      {text}
    </p>
  );
}
