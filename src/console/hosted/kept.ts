import { keep, recall } from '../frame/storage.ts';
import type { Embedding } from './embedding.ts';

/** The stored part of a visitor's conversation with a bot. */
export type Kept = {
  /** Continues the session. */
  resume?: string | undefined;
  /** The message whose reply was not complete. */
  open?: { runId: string; message: string } | undefined;
};

/**
 * Reads and changes what this browser keeps. A browser may block the storage of a frame: then the widget keeps it in
 * the storage of the page around the frame, and without a widget it is kept until the page closes. So is the conversation
 * of a known user, because others may use the same browser.
 */
export type KeptConversation = {
  get(): Kept;
  set(change: Kept): void;
  /** Forgets everything. */
  clear(): void;
};

export function createKept(bot: string, embedding: Embedding): KeptConversation {
  const name = `parley:chat:${bot}`;
  let own = read(embedding.kept);
  const isStored = !embedding.hasTokens;
  const get = (): Kept => {
    const text = isStored ? recall(name) : null;
    return text === null ? own : read(text);
  };
  const write = (next: Kept) => {
    own = next;
    if (!isStored) return;
    const text = JSON.stringify(next);
    keep(name, text);
    if (recall(name) === null) embedding.send({ type: 'keep', text });
  };
  return {
    get,
    set: (change) => write({ ...get(), ...change }),
    clear: () => write({}),
  };
}

function read(text: string | undefined): Kept {
  try {
    return JSON.parse(text ?? '{}');
  } catch {
    return {};
  }
}
