import { itemNames, readItem, removeItem, writeItem } from '../frame/storage.ts';
import type { Embedding } from './embedding.ts';

/** A message whose run has begun and is not known to be over. */
export type OpenMessage = {
  /** The id of its turn, and its idempotency key. */
  id: string;
  message: string;
  runId: string;
  /** When the run began, by the server's clock. */
  at: string | null;
};

/**
 * What this browser keeps of a visitor's conversation with a bot. A browser may block the storage of a frame: then the
 * widget keeps it in the storage of the page around the frame, and without a widget it is kept until the page closes. So is
 * the conversation of a known user, because others may use the same browser.
 */
export type StoredConversation = {
  /** Continues the session. */
  resume(): string | undefined;
  setResume(resume: string): void;
  /** What the visitor wrote in an earlier visit, and no run has taken. */
  draft(): string;
  setDraft(text: string): void;
  /** Keeps a message that is sent, until its run begins. */
  setUnsent(message: string): void;
  /** Keeps a message whose run has begun. Tabs that begin and end runs at the same time do not disturb each other. */
  begin(open: OpenMessage): void;
  /** Forgets the message of a run. */
  end(runId: string): void;
  /**
   * The open message of any tab. A session has one run at a time, so messages before the last stored one are over, and are
   * forgotten.
   *
   * @param storedAt when the last message was stored, by the server's clock.
   */
  open(storedAt: string | undefined): OpenMessage | undefined;
  /** Forgets everything. */
  clear(): void;
};

/** The values where the browser stores none. */
type Kept = { resume?: string; open?: OpenMessage | undefined };

export function createStoredConversation(bot: string, embedding: Embedding): StoredConversation {
  const name = `parley:chat:${bot}`;
  const draftName = `parley:draft:${bot}`;
  const unsentName = `parley:unsent:${bot}`;
  const nameOf = (runId: string) => `${name}:${runId}`;
  const isStored = !embedding.hasTokens;
  let own = (isStored && read<Kept>(embedding.kept)) || {};

  const store = (item: string, text: string) => {
    if (isStored) writeItem(item, text);
  };
  const isBlocked = () => readItem(name) === null;
  const setOwn = (next: Kept) => {
    own = next;
    if (isStored && isBlocked()) embedding.send({ type: 'keep', text: JSON.stringify(own) });
  };
  const storedNames = () => (isStored ? itemNames(`${name}:`) : []);
  const openMessages = (): OpenMessage[] => {
    if (!isStored || isBlocked()) return own.open ? [own.open] : [];
    return storedNames().flatMap((item) => read<OpenMessage>(readItem(item)) ?? []);
  };
  const end = (runId: string) => {
    removeItem(nameOf(runId));
    if (own.open?.runId === runId) setOwn({ ...own, open: undefined });
  };

  return {
    resume: () => (!isStored || isBlocked() ? own.resume : readItem(name) || undefined),

    setResume(resume) {
      store(name, resume);
      setOwn({ ...own, resume });
    },

    draft() {
      if (!isStored) return '';
      const text = [readItem(unsentName), readItem(draftName)].filter(Boolean).join('\n\n');
      removeItem(unsentName);
      this.setDraft(text);
      return text;
    },

    setDraft(text) {
      if (text === '') removeItem(draftName);
      else store(draftName, text);
    },

    setUnsent: (message) => store(unsentName, message),

    begin(open) {
      if (readItem(unsentName) === open.message) removeItem(unsentName);
      store(nameOf(open.runId), JSON.stringify(open));
      setOwn({ ...own, open });
    },

    end,

    open(storedAt) {
      const messages = openMessages();
      const isOver = ({ at }: OpenMessage) =>
        at !== null && storedAt !== undefined && at < storedAt;
      for (const { runId } of messages.filter(isOver)) end(runId);
      return messages
        .filter((message) => !isOver(message))
        .sort((one, other) => ((one.at ?? '') < (other.at ?? '') ? -1 : 1))
        .at(-1);
    },

    clear() {
      for (const item of [...storedNames(), draftName, unsentName]) removeItem(item);
      store(name, '');
      setOwn({});
    },
  };
}

function read<Value>(text: string | null | undefined): Value | undefined {
  try {
    return text ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
