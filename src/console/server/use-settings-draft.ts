import { useState } from 'react';

/** Settings that a person edits, while others may change the stored ones. */
export type SettingsDraft<Settings> = {
  /** The stored settings with the typed ones in their place. */
  values: Settings;
  isChanged: boolean;
  /** The typed settings that somebody else has stored with another value, as they are stored. */
  conflict: Partial<Settings> | undefined;
  change(part: Partial<Settings>): void;
  /**
   * Compares the typed settings with the stored ones before they are saved.
   *
   * @returns the settings to save, or `undefined` if there is a conflict that the person has not seen.
   */
  merged(): Promise<Settings | undefined>;
  /** Forgets what was typed. */
  reset(): void;
};

/**
 * Edits settings by their fields. A field that is not typed in follows the stored settings, and a typed one stays.
 *
 * @param stored as they were read last.
 * @param read reads them again; `undefined` if that fails.
 */
export function useSettingsDraft<Settings extends Record<string, string | boolean>>(
  stored: Settings,
  read: () => Promise<Settings | undefined>,
): SettingsDraft<Settings> {
  const [typed, setTyped] = useState<Partial<Settings>>({});
  /** What was stored when the person began to type, or saw last. */
  const [base, setBase] = useState(stored);
  const [conflict, setConflict] = useState<Partial<Settings>>();
  const values = { ...stored, ...typed };
  const names = Object.keys(stored) as (keyof Settings)[];
  return {
    values,
    isChanged: names.some((name) => values[name] !== stored[name]),
    conflict,
    change(part) {
      if (Object.keys(typed).length === 0) setBase(stored);
      setTyped({ ...typed, ...part });
    },
    async merged() {
      const latest = (await read()) ?? stored;
      const others = names.filter(
        (name) => name in typed && latest[name] !== base[name] && latest[name] !== typed[name],
      );
      setBase(latest);
      if (others.length === 0) {
        setConflict(undefined);
        return { ...latest, ...typed };
      }
      setConflict(
        Object.fromEntries(others.map((name) => [name, latest[name]])) as Partial<Settings>,
      );
      return undefined;
    },
    reset() {
      setTyped({});
      setConflict(undefined);
    },
  };
}
