import { createStore, useStore } from '../server/store.ts';
import { IconButton } from './button.tsx';
import './toast.css';

type Toast = { id: number; text: string };

const toasts = createStore<Toast[]>([]);
const SHOWN_MS = 6_000;
let last = 0;

/** Says briefly what was done. */
export function toast(text: string): void {
  last += 1;
  const id = last;
  toasts.set([...toasts.get(), { id, text }]);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

function dismiss(id: number): void {
  toasts.set(toasts.get().filter((shown) => shown.id !== id));
}

/** The place where toasts appear. The frame has one. */
export function Toasts() {
  const shown = useStore(toasts);
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text }) => (
        <p key={id} className="toast">
          {text}
          <IconButton label="Dismiss" icon="close" onClick={() => dismiss(id)} />
        </p>
      ))}
    </div>
  );
}
