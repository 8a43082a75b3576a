import { useEffect, useRef, useState } from 'react';
import { isOpen, type Turn } from '../chat/turn.ts';

/**
 * The screen-reader text of the last reply: that it is being written, then its whole text as the page shows it. Empty for
 * a restored conversation.
 */
export function useSpoken(last: Turn | undefined): string {
  const [spoken, setSpoken] = useState('');
  const wasOpen = useRef(false);
  const isWritten = last !== undefined && isOpen(last);
  // A problem is shown in a separate alert.
  const hasFailed = last?.problem !== undefined;
  useEffect(() => {
    if (isWritten) setSpoken('A reply is being written.');
    else if (wasOpen.current) setSpoken(hasFailed ? '' : lastReply());
    wasOpen.current = isWritten;
  }, [isWritten, hasFailed]);
  return spoken;
}

function lastReply(): string {
  const replies = document.querySelectorAll<HTMLElement>('.message-reply');
  return [...replies].at(-1)?.innerText ?? '';
}
