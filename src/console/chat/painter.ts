import type { Step } from '../server/call.ts';

type Timed = { step: Step; ms: number };

/** Collects steps and applies them once a frame, because a stream has more events than a screen has frames. */
export function createPainter(apply: (steps: Timed[]) => void) {
  let waiting: Timed[] = [];
  let frame: number | undefined;
  const flush = () => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    if (waiting.length === 0) return;
    const steps = waiting;
    waiting = [];
    apply(steps);
  };
  return {
    flush,
    add(timed: Timed) {
      waiting.push(timed);
      frame ??= requestAnimationFrame(flush);
    },
  };
}
