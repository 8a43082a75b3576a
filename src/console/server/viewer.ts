import { createContext, useContext } from 'react';
import type { KeyScope, ViewerQuery } from '../../generated/operations/console.ts';

export type Viewer = ViewerQuery['viewer'];

export const ViewerContext = createContext<Viewer | undefined>(undefined);

/** The signed-in key and its account, on pages that need no session. */
export function useOptionalViewer(): Viewer | undefined {
  return useContext(ViewerContext);
}

/** The signed-in key and its account. */
export function useViewer(): Viewer {
  const viewer = useOptionalViewer();
  if (!viewer) throw new Error('Nobody is signed in.');
  return viewer;
}

/** Whether the signed-in key has a scope. */
export function useScope(scope: KeyScope): boolean {
  return useViewer().apiKey.scopes.includes(scope);
}

/** Why an action is not available to the signed-in key. */
export function lacks(scope: KeyScope): string {
  return `Your key lacks the scope ${scope.toLowerCase()}.`;
}

/** Why the signed-in key cannot create bots; `undefined` if it can. */
export function useNewBotRefusal(): string | undefined {
  const { scopes, bots } = useViewer().apiKey;
  if (!scopes.includes('ADMIN')) return lacks('ADMIN');
  return bots ? 'Your key is restricted to some bots and cannot create new ones.' : undefined;
}
