import type { KeyScope } from '../../generated/operations/console.ts';
import { Empty } from '../parts/state.tsx';
import { lacks } from '../server/viewer.ts';
import { Screen } from './screen.tsx';

/** Replaces a screen that the signed-in key may not read. */
export function LackingScope({
  title,
  scope,
  reason,
}: {
  title: string;
  scope: KeyScope;
  /** Why the screen needs the scope. */
  reason: string;
}) {
  return (
    <Screen title={title}>
      <Empty title={lacks(scope)}>
        <p>{reason} Sign in with a key that may read them.</p>
      </Empty>
    </Screen>
  );
}
