import { screenAt } from './screen-addresses.ts';

const start = () => import('./screens/start/start.tsx');
const evaluations = () => import('./screens/evaluations/evaluations.tsx');
const deployments = () => import('./screens/deployments/deployments.tsx');

/** Loads the code of each screen. The code of the list of bots is part of the first load. */
export const screenCode = {
  newBot: start,
  start,
  home: () => import('./screens/home/home.tsx'),
  chatPage: () => import('./screens/chat-page/chat-page-screen.tsx'),
  playground: () => import('./screens/playground/playground.tsx'),
  runs: () => import('./screens/runs/runs.tsx'),
  run: () => import('./screens/run/run.tsx'),
  compare: () => import('./screens/compare/compare.tsx'),
  sessions: () => import('./screens/sessions/sessions.tsx'),
  approvals: () => import('./screens/approvals/approvals.tsx'),
  deploy: deployments,
  deployments,
  deploymentComparison: () => import('./screens/deployments/comparison.tsx'),
  evaluations,
  evaluation: evaluations,
  studio: () => import('./screens/studio/studio.tsx'),
  settings: () => import('./screens/settings/settings.tsx'),
  guide: () => import('./screens/guide/guide.tsx'),
};

const LOADERS = new Map<string, () => Promise<unknown>>(Object.entries(screenCode));

/** Loads the code of the screen at an address, if it is not part of the first load. A failure shows when the screen opens. */
export function preloadScreen(address: string): void {
  LOADERS.get(screenAt(address)?.name ?? '')?.().catch(() => {});
}
