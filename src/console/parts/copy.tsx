import { useEffect, useState } from 'react';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';
import './copy.css';

const CONFIRMED_MS = 1_500;

/** Copies a text. @returns whether it was copied just now, and the function that copies. */
export function useCopy(text: string | (() => string)): [boolean, () => void] {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), CONFIRMED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  const copy = () => {
    void navigator.clipboard.writeText(typeof text === 'string' ? text : text()).then(
      () => setCopied(true),
      () => setCopied(false),
    );
  };
  return [isCopied, copy];
}

/** A button without text that copies a text. */
export function CopyButton({ label, text }: { label: string; text: string }) {
  const [isCopied, copy] = useCopy(text);
  return <IconButton label={label} icon={isCopied ? 'check' : 'copy'} onClick={copy} />;
}

/** An id. A long one is cut in its middle. A click copies the whole. */
export function Id({ children: id }: { children: string }) {
  const [isCopied, copy] = useCopy(id);
  // An id of a client may hold emoji, which a cut by length would break.
  const characters = [...id];
  const isLong = characters.length > 24;
  const shown = isLong
    ? `${characters.slice(0, 14).join('')}…${characters.slice(-6).join('')}`
    : id;
  return (
    <button type="button" className="id mono" title={`Copy ${id}`} onClick={copy}>
      <span className="cut">{shown}</span>
      <Icon name={isCopied ? 'check' : 'copy'} size={12} />
      <span className="unseen" role="status">
        {isCopied ? 'Copied' : ''}
      </span>
    </button>
  );
}

/** What an element needs that scrolls by itself: the keyboard reaches it, and it has a name. */
export function scrollArea(label: string) {
  return { role: 'group', tabIndex: 0, 'aria-label': label };
}

/** Code with one button that copies all of it. */
export function CodeBlock({
  children: code,
  shown = code,
  label,
}: {
  children: string;
  /** What shows of the code. */
  shown?: string | undefined;
  label: string;
}) {
  const [isCopied, copy] = useCopy(code);
  return (
    <div className="code-block">
      <div className="code-scroll" {...scrollArea(label)}>
        <pre>{shown}</pre>
      </div>
      <button type="button" className="code-copy" onClick={copy}>
        <Icon name={isCopied ? 'check' : 'copy'} size={13} />
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}
