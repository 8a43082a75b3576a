/** @returns what this browser keeps under a name; null if there is nothing, or if it blocks storage. */
export function readItem(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text in this browser. @returns whether it could: a browser may block storage, or its storage may be full. */
export function writeItem(name: string, text: string): boolean {
  try {
    localStorage.setItem(name, text);
    return true;
  } catch {
    return false;
  }
}

/** Removes what this browser keeps under a name. */
export function removeItem(name: string): void {
  try {
    localStorage.removeItem(name);
  } catch {
    // A browser that blocks storage keeps nothing.
  }
}

/** @returns the names that begin with a prefix. */
export function itemNames(prefix: string): string[] {
  try {
    return Object.keys(localStorage).filter((name) => name.startsWith(prefix));
  } catch {
    return [];
  }
}
