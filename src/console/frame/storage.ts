/** @returns what this browser keeps under a name; null if there is nothing, or if it blocks storage. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text in this browser. A browser that blocks storage forgets it with the tab. */
export function keep(name: string, text: string): void {
  try {
    localStorage.setItem(name, text);
  } catch {
    // The caller has the text in memory.
  }
}
