import type { KeyboardEvent } from 'react';

/**
 * Whether an event is the key Enter, and not the one with which an input method ends a composed word, such as in Japanese.
 * Safari ends the composition before that event and marks it by its code alone.
 *
 * @see https://developer.mozilla.org/docs/Web/API/Element/keydown_event#keydown_events_with_ime
 */
export function isEnter({ key, keyCode, nativeEvent }: KeyboardEvent): boolean {
  return key === 'Enter' && !nativeEvent.isComposing && keyCode !== COMPOSES;
}

/** The code of a key that an input method takes. */
const COMPOSES = 229;
