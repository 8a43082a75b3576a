import { createStore } from '../server/store.ts';

export type Theme = 'system' | 'light' | 'dark';

const NAME = 'parley:theme';

export const theme = createStore<Theme>(stored());

/** Chooses a theme and keeps the choice in this browser, if it allows that. */
export function chooseTheme(chosen: Theme): void {
  theme.set(chosen);
  applyTheme();
  try {
    localStorage.setItem(NAME, chosen);
  } catch {
    // A browser that blocks storage forgets the choice with the tab.
  }
}

export function applyTheme(): void {
  const { dataset } = document.documentElement;
  const chosen = theme.get();
  if (chosen === 'system') delete dataset.theme;
  else dataset.theme = chosen;
}

function stored(): Theme {
  try {
    const kept = localStorage.getItem(NAME);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system';
  }
}
