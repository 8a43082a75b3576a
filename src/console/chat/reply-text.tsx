import { lazyPart } from '../parts/lazy-part.tsx';

const load = () => import('./markdown.tsx');

/** Loads what shows Markdown before a reply needs it. */
export function loadMarkdown(): void {
  // The reply that needs it loads it again.
  load().catch(() => {});
}

/** A part of a reply between its tool calls. Plain text until what shows Markdown has loaded. */
export const ReplyText = lazyPart(load, PlainText);

function PlainText({ text }: { text: string }) {
  return (
    <div className="turn-text" dir="auto">
      {text}
    </div>
  );
}
