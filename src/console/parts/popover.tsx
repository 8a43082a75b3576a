import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import './menu.css';
import { place } from './menu.tsx';
import './popover.css';

/** A panel with controls that opens below its button. The browser closes it on Escape, and on a click elsewhere. */
export function Popover({
  label,
  className,
  button,
  startsOpen = false,
  onClose,
  children,
}: {
  label: string;
  className: string;
  button: ReactNode;
  startsOpen?: boolean;
  onClose?: () => void;
  /** The content, which is in the page while the panel is open. */
  children: (close: () => void) => ReactNode;
}) {
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    if (startsOpen) panel.current?.showPopover();
  }, [startsOpen]);
  useEffect(() => {
    if (!isOpen) return undefined;
    const follow = () => place(trigger.current, panel.current);
    follow();
    panel.current?.querySelector<HTMLElement>('input:checked, input, button')?.focus();
    addEventListener('resize', follow);
    return () => removeEventListener('resize', follow);
  }, [isOpen]);
  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        {button}
      </button>
      <div
        ref={panel}
        id={id}
        className="menu popover"
        popover="auto"
        role="dialog"
        aria-label={label}
        onToggle={({ newState }) => {
          setOpen(newState === 'open');
          if (newState === 'closed') onClose?.();
        }}
      >
        {isOpen && children(() => panel.current?.hidePopover())}
      </div>
    </>
  );
}
