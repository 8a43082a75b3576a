import { useState } from 'react';
import { lazyPart } from '../parts/lazy-part.tsx';
import { useShortcuts } from '../parts/use-shortcuts.ts';

const ShortcutsDialog = lazyPart(() => import('./shortcuts-dialog.tsx'));

/** Lists the shortcuts of all screens, at the key `?`. */
export function Shortcuts() {
  const [isOpen, setOpen] = useState(false);
  useShortcuts({ '?': () => setOpen(true) });
  return isOpen ? <ShortcutsDialog onClose={() => setOpen(false)} /> : null;
}
