import { useEffect, useRef } from 'react';

/** What happened to the conversation in another tab of the same visitor. */
type News = 'changed' | 'reset';

/** Follows the other tabs of the visitor, and notifies them of changes. */
export function useOtherTabs(
  bot: string,
  { onChange, onReset }: { onChange(): void; onReset(): void },
): { announce(news: News): void } {
  const channel = useRef<BroadcastChannel>(undefined);
  const listener = useRef({ onChange, onReset });
  listener.current = { onChange, onReset };
  useEffect(() => {
    const own = new BroadcastChannel(`parley:chat:${bot}`);
    channel.current = own;
    own.onmessage = ({ data }: MessageEvent<News>) => {
      if (data === 'reset') listener.current.onReset();
      else listener.current.onChange();
    };
    return () => own.close();
  }, [bot]);
  return { announce: (news) => channel.current?.postMessage(news) };
}
