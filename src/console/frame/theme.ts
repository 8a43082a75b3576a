import { createStore } from '../server/store.ts';
import { readItem, writeItem } from './storage.ts';

export type Theme = 'system' | 'light' | 'dark';

const NAME = 'parley:theme';

export const theme = createStore<Theme>(stored());

/** The themes with their labels. */
export const THEMES: [Theme, string][] = [
  ['system', 'Theme of the system'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

/** Chooses a theme and keeps the choice in this browser, if it allows that. */
export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  applyTheme();
  writeItem(NAME, chosen);
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  const chosen = theme.get();
  if (chosen === 'system') delete dataset.theme;
  else dataset.theme = chosen;
}

function stored(): Theme {
  const kept = readItem(NAME);
  return kept === 'light' || kept === 'dark' ? kept : 'system';
}
