import { type ReactNode, useEffect, useLayoutEffect } from 'react';
import './menu.css';
import './popover.css';
import { usePopup } from './use-popup.ts';

/** A panel with controls that opens below its button. */
export function Popover({
  label,
  className,
  button,
  startsOpen = false,
  children,
}: {
  label: string;
  className: string;
  button: ReactNode;
  startsOpen?: boolean;
  /** The content, which is in the page while the panel is open. */
  children: (close: () => void) => ReactNode;
}) {
  const { popup, openings, hide, buttonProps, popupProps } = usePopup();
  useLayoutEffect(() => {
    if (openings > 0)
      popup.current?.querySelector<HTMLElement>('input:checked, input, button')?.focus();
  }, [openings, popup]);
  useEffect(() => {
    if (startsOpen) popup.current?.showPopover();
  }, [startsOpen, popup]);
  return (
    <>
      <button {...buttonProps} className={className} aria-haspopup="dialog">
        {button}
      </button>
      <div {...popupProps} className="menu popover" role="dialog" aria-label={label}>
        {openings > 0 && children(hide)}
      </div>
    </>
  );
}
