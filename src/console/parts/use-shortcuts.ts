import { useEffect, useRef } from 'react';

/** Runs what belongs to a key of a letter, unless the key writes into a field, or a dialog is open. */
export function useShortcuts(shortcuts: Record<string, () => void>): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const press = ({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent) => {
      const run = latest.current[key.toLowerCase()];
      const isTyping = target instanceof Element && target.closest('input, textarea, select');
      if (!run || isTyping || altKey || ctrlKey || metaKey) return;
      if (!document.querySelector('dialog[open]')) run();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}
