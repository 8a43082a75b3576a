import { randomId } from '../random-id.ts';

const NAME = 'parley:tab';

/** The id of this tab if the browser blocks storage. */
let unstored: string | undefined;

/** The id of this tab, which survives a reload. A duplicate of a tab begins with the id of the first one. */
export function tabId(): string {
  try {
    return sessionStorage.getItem(NAME) ?? renewTabId();
  } catch {
    unstored ??= randomId();
    return unstored;
  }
}

/** Gives this tab another id. */
export function renewTabId(): string {
  const id = randomId();
  sessionStorage.setItem(NAME, id);
  return id;
}
