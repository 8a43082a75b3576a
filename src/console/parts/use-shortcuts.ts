import { useEffect, useEffectEvent } from 'react';

/** Runs what belongs to a key, unless the key writes into a field, another element uses it, or a dialog is open. */
export function useShortcuts(shortcuts: Record<string, () => void>): void {
  const press = useEffectEvent((event: KeyboardEvent) => {
    const { key, target, altKey, ctrlKey, metaKey, defaultPrevented } = event;
    const run = shortcuts[key.toLowerCase()];
    const isTyping = target instanceof Element && target.closest('input, textarea, select');
    if (!run || isTyping || defaultPrevented || altKey || ctrlKey || metaKey) return;
    if (!document.querySelector('dialog[open]')) run();
  });
  useEffect(() => {
    const listener = (event: KeyboardEvent) => press(event);
    document.addEventListener('keydown', listener);
    return () => document.removeEventListener('keydown', listener);
  }, []);
}
