import { type ComponentProps, type ReactNode, useId, useLayoutEffect, useRef } from 'react';
import { IconButton } from './button.tsx';
import './dialog.css';

type ModalProps = Pick<ComponentProps<'dialog'>, 'aria-label' | 'aria-labelledby'> & {
  className: string;
  /** Absent if the dialog must be answered. */
  onClose?: (() => void) | undefined;
  children: ReactNode;
};

/** A modal dialog without a look. While it is open the page below it is inert. Escape and a click beside it close it. */
export function Modal({ onClose, children, ...rest }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  // A dialog returns the focus only if it closes before it leaves the page, which a layout effect does.
  useLayoutEffect(() => {
    const element = dialog.current;
    if (!element) return undefined;
    const open = () => {
      if (element.open) return;
      element.showModal();
      // Opening moves the focus to the first control, which is the button that closes.
      element.querySelector<HTMLElement>('input, select, textarea')?.focus({ preventScroll: true });
    };
    open();
    // A browser that does not know `closedby` closes the dialog at a second Escape, whose `cancel` cannot be prevented.
    element.addEventListener('close', open);
    return () => {
      element.removeEventListener('close', open);
      element.close();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog too
    <dialog
      ref={dialog}
      {...rest}
      closedby={onClose ? undefined : 'none'}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onClick={({ target }) => {
        if (target === dialog.current) onClose?.();
      }}
    >
      {children}
    </dialog>
  );
}

/** A modal dialog with a title. */
export function Dialog({
  title,
  isWide = false,
  onClose,
  children,
}: {
  title: string;
  /** Whether its content needs more than a line of text, as a diff does. */
  isWide?: boolean;
  onClose?: ModalProps['onClose'];
  children: ReactNode;
}) {
  const heading = useId();
  return (
    <Modal
      className={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby={heading}
      onClose={onClose}
    >
      <div className="dialog-body">
        <header>
          <h2 id={heading}>{title}</h2>
          {onClose && <IconButton label="Close" icon="close" onClick={onClose} />}
        </header>
        {children}
      </div>
    </Modal>
  );
}
