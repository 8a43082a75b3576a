import { useContext, useEffect, useLayoutEffect, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { ViewerContext } from '../../server/viewer.ts';
import { whenIdle } from '../when-idle.ts';
import './open-palette.css';

const load = () => import('./palette.tsx');
const Palette = lazyPart(load);

const KEYS = /^(Mac|iP)/.test(navigator.platform) ? '⌘ K' : 'Ctrl K';

/** Opens the palette, as Ctrl-K and Cmd-K do on every screen. Without a session there is nothing to open. */
export function OpenPalette() {
  const isSignedIn = useContext(ViewerContext) !== undefined;
  const [isOpen, setOpen] = useState(false);
  // Keys that are typed right after the shortcut must find the palette open.
  useEffect(() => whenIdle(() => void load().catch(() => {})), []);
  useLayoutEffect(() => {
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
  if (!isSignedIn) return null;
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
        <span className="open-palette-text">Go to…</span>
        <span className="open-palette-keys" aria-hidden="true">
          {KEYS}
        </span>
      </button>
      {isOpen && <Palette onClose={() => setOpen(false)} />}
    </>
  );
}
