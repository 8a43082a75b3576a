import { type ReactNode, type RefObject, useRef } from 'react';
import { Button } from '../parts/button.tsx';
import { isEnter } from '../parts/is-enter.ts';
import './composer.css';

/** Where a message is written. Enter sends it, Shift and Enter begin a new line. */
export function Composer({
  message,
  onChange,
  input: given,
  placeholder,
  action = 'Send',
  isBusy,
  unavailable,
  onFocus,
  onSend,
  onStop,
  top,
  children,
}: {
  message: string;
  onChange(message: string): void;
  /** The text field, for what moves the focus to it. */
  input?: RefObject<HTMLTextAreaElement | null>;
  placeholder: string;
  /** The text of the button that sends. */
  action?: string;
  isBusy: boolean;
  unavailable?: string | false | undefined;
  /** Is called when a message is about to be written. */
  onFocus?: (() => unknown) | undefined;
  onSend(): void;
  onStop(): void;
  /** Stands above the text field. */
  top?: ReactNode;
  /** Stand beside the button. */
  children?: ReactNode;
}) {
  const own = useRef<HTMLTextAreaElement>(null);
  const input = given ?? own;
  const send = () => {
    if (message.trim() === '' || isBusy || unavailable) return;
    onSend();
    input.current?.focus();
  };
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {top}
      <textarea
        ref={input}
        aria-label="Message"
        dir="auto"
        placeholder={placeholder}
        rows={2}
        value={message}
        onFocus={onFocus}
        onChange={({ target }) => onChange(target.value)}
        onKeyDown={(event) => {
          if (!isEnter(event) || event.shiftKey) return;
          event.preventDefault();
          send();
        }}
      />
      <div className="composer-bar">
        {children}
        <span className="composer-end">
          {isBusy ? (
            <Button icon="stop" onClick={onStop}>
              Stop
            </Button>
          ) : (
            <Button type="submit" look="primary" icon="send" unavailable={unavailable}>
              {action}
            </Button>
          )}
        </span>
      </div>
    </form>
  );
}
