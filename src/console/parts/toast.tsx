import { useEffect, useState } from 'react';
import { createStore, useStore } from '../server/store.ts';
import { Button, IconButton } from './button.tsx';
import './toast.css';

type Toast = { id: number; text: string; undo?: (() => unknown) | undefined };

const toasts = createStore<Toast[]>([]);
const SHOWN_MS = 6_000;
const UNDO_MS = 12_000;
let last = 0;

/** Confirms an action in one line. @param undo reverses it; absent if that is not possible. */
export function toast(text: string, undo?: () => unknown): void {
  last += 1;
  toasts.set([...toasts.get(), { id: last, text, undo }]);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}

/** The place where toasts appear. The frame has one. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status">
      {shown.map((one) => (
        <ToastView key={one.id} {...one} />
      ))}
    </div>
  );
}

/** A toast stays while the pointer or the focus is on it. */
function ToastView({ id, text, undo }: Toast) {
  const [isHeld, setHeld] = useState(false);
  useEffect(() => {
    if (isHeld) return undefined;
    const timer = setTimeout(() => dismiss(id), undo ? UNDO_MS : SHOWN_MS);
    return () => clearTimeout(timer);
  }, [id, undo, isHeld]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the handlers only stop the clock
    <div
      className="toast"
      onPointerEnter={() => setHeld(true)}
      onPointerLeave={() => setHeld(false)}
      onFocus={() => setHeld(true)}
      onBlur={() => setHeld(false)}
    >
      <p>{text}</p>
      {undo && (
        <Button
          look="quiet"
          onClick={() => {
            dismiss(id);
            undo();
          }}
        >
          Undo
        </Button>
      )}
      <IconButton label="Dismiss" icon="close" onClick={() => dismiss(id)} />
    </div>
  );
}
