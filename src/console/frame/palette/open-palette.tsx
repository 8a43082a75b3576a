import { lazy, Suspense, useEffect, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import './open-palette.css';

const Palette = lazy(() => import('./palette.tsx'));

const KEYS = /^(Mac|iP)/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

/** Opens the palette, as Ctrl-K and Cmd-K do on every screen. */
export function OpenPalette() {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const toggle = (event: KeyboardEvent) => {
      const isShortcut = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k';
      if (!isShortcut || event.shiftKey || event.altKey) return;
      event.preventDefault();
      // Another dialog must be answered first.
      const isBelowDialog = document.querySelector('dialog[open]:not(.palette)') !== null;
      setOpen((wasOpen) => !wasOpen && !isBelowDialog);
    };
    addEventListener('keydown', toggle);
    return () => removeEventListener('keydown', toggle);
  }, []);
  return (
    <>
      <button
        type="button"
        className="open-palette"
        aria-haspopup="dialog"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={() => setOpen(true)}
      >
        <Icon name="search" />
        Go to…
        <span className="open-palette-keys" aria-hidden="true">
          {KEYS}
        </span>
      </button>
      {isOpen && (
        <Suspense fallback={null}>
          <Palette onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
