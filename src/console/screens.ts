/** Loads the code of each screen. The code of the list of bots is part of the first load. */
export const screens = {
  deployments: () => import('./screens/deployments/deployments.tsx'),
  guide: () => import('./screens/guide/guide.tsx'),
  settings: () => import('./screens/settings/settings.tsx'),
  playground: () => import('./screens/playground/playground.tsx'),
  run: () => import('./screens/run/run.tsx'),
  compare: () => import('./screens/compare/compare.tsx'),
  runs: () => import('./screens/runs/runs.tsx'),
  sessions: () => import('./screens/sessions/sessions.tsx'),
  start: () => import('./screens/start/start.tsx'),
  studio: () => import('./screens/studio/studio.tsx'),
};

/** The screens by their addresses, which `app.tsx` routes. */
const ADDRESSES: [pattern: RegExp, screen: keyof typeof screens][] = [
  [/^\/guide(\/|$)/, 'guide'],
  [/^\/settings(\/|$)/, 'settings'],
  [/^\/bots\/[^/]+\/playground$/, 'playground'],
  [/^\/bots\/[^/]+\/runs$/, 'runs'],
  [/^\/bots\/[^/]+\/sessions(\/|$)/, 'sessions'],
  [/^\/bots\/[^/]+\/deployments(\/|$)/, 'deployments'],
  [/^\/bots\/([^/]+\/start|new)$/, 'start'],
  [/^\/runs\/[^/]+\/compare\//, 'compare'],
  [/^\/bots\/[^/]+\/studio$/, 'studio'],
  [/^\/runs\//, 'run'],
];

/** Loads the code of the screen at an address, if it is not part of the first load. A failure shows when the screen opens. */
export function preloadScreen(path: string): void {
  const [, screen] = ADDRESSES.find(([pattern]) => pattern.test(path)) ?? [];
  if (screen) screens[screen]().catch(() => {});
}
