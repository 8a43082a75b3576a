import { type ReactNode, useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import './composer.css';

/** Where a message is written. Enter sends it, Shift and Enter begin a new line. */
export function Composer({
  placeholder,
  isBusy,
  unavailable,
  onSend,
  onStop,
  children,
}: {
  placeholder: string;
  isBusy: boolean;
  unavailable?: string | false | undefined;
  onSend(message: string): void;
  onStop(): void;
  children?: ReactNode;
}) {
  const [message, setMessage] = useState('');
  const input = useRef<HTMLTextAreaElement>(null);
  const send = () => {
    if (message.trim() === '' || isBusy || unavailable) return;
    onSend(message);
    setMessage('');
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
      <textarea
        ref={input}
        aria-label="Message"
        placeholder={placeholder}
        rows={2}
        value={message}
        onChange={({ target }) => setMessage(target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
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
              Send
            </Button>
          )}
        </span>
      </div>
    </form>
  );
}
