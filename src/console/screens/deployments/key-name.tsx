import { Keys } from '../../../operations/console/operations.ts';
import { useServerQuery } from '../../server/operations.ts';
import { useScope, useViewer } from '../../server/viewer.ts';

/** The key that made something: by its name if the signed-in key may read it, else by its id. */
export function KeyName({ id }: { id: string }) {
  const { apiKey } = useViewer();
  const mayRead = useScope('ADMIN');
  const { data } = useServerQuery(Keys, {}, { pause: !mayRead || id === apiKey.id });
  if (id === apiKey.id) return `by ${apiKey.name} (this key)`;
  const found = data?.viewer.account.apiKeys.find((key) => key.id === id);
  if (found) return `by ${found.name}`;
  return (
    <>
      by key <span className="mono">…{id.slice(-6)}</span>
    </>
  );
}
