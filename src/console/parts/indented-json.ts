/**
 * Lays JSON out on indented lines. Any other text stays as it is, and so does JSON that would change: a number with more
 * digits than a double holds, or a name that stands twice.
 */
export function indentedJson(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
