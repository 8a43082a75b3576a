import type { ChatEvent } from '../server/chat-event.ts';

type Timed = { event: ChatEvent; ms: number };

/** Collects events and applies them once a frame, because a stream has more events than a screen has frames. */
export function createPainter(apply: (events: Timed[]) => void) {
  let waiting: Timed[] = [];
  let frame: number | undefined;
  const flush = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    if (waiting.length === 0) return;
    const events = waiting;
    waiting = [];
    apply(events);
  };
  return {
    flush,
    add(timed: Timed) {
      waiting.push(timed);
      frame ??= requestAnimationFrame(flush);
    },
  };
}
