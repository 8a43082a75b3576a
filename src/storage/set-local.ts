/** Settings of PostgreSQL by name. */
export type Settings = Record<string, string | number>;

/** The statements that make settings until the end of the transaction. */
export function setLocal(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `SET LOCAL ${name} = ${value}`)
    .join('; ');
}
