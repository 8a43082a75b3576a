import { type RefObject, type ToggleEvent, useId, useLayoutEffect, useRef, useState } from 'react';

/**
 * A button, and a popup that opens below it. The browser closes the popup on Escape, which returns the focus to the button,
 * and on a click elsewhere.
 */
export function usePopup() {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const popup = useRef<HTMLDivElement>(null);
  // The browser reports a popup that closes and opens at once as opened again.
  const [openings, setOpenings] = useState(0);
  const isOpen = openings > 0;
  useLayoutEffect(() => {
    if (openings === 0) return undefined;
    const follow = () => placeBelow(button, popup);
    follow();
    addEventListener('resize', follow);
    return () => removeEventListener('resize', follow);
  }, [openings]);
  return {
    popup,
    /** How often the popup was opened since it was closed, so that an effect runs at each opening; 0 while it is closed. */
    openings,
    show: () => popup.current?.showPopover(),
    hide: () => popup.current?.hidePopover(),
    buttonProps: {
      ref: button,
      type: 'button',
      'aria-expanded': isOpen,
      'aria-controls': id,
      popoverTarget: id,
    },
    popupProps: {
      ref: popup,
      id,
      popover: 'auto',
      onToggle: ({ newState }: ToggleEvent) =>
        setOpenings((before) => (newState === 'open' ? before + 1 : 0)),
    },
  } as const;
}

/** Places a popup below its button, or above the button if the window has no space below, and within the window. Without a visible button, closes it. */
function placeBelow(
  { current: button }: RefObject<HTMLElement | null>,
  { current: popup }: RefObject<HTMLElement | null>,
): void {
  // A window of another width may not have the button.
  if (!button?.checkVisibility()) popup?.hidePopover();
  if (!button || !popup) return;
  const from = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = popup;
  const left = Math.max(8, Math.min(from.left, innerWidth - width - 8));
  const below = from.bottom + 4;
  const top = below + height > innerHeight - 8 ? from.top - height - 4 : below;
  popup.style.left = `${left}px`;
  popup.style.top = `${Math.max(8, Math.min(top, innerHeight - height - 8))}px`;
}
