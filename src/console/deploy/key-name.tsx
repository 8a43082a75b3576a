import { Keys } from '../../generated/operations/console.ts';
import { useServerQuery } from '../server/operations.ts';
import { useScope, useViewer } from '../server/viewer.ts';

/** The key that made a deployment: by its name if the signed-in key may read it, else by its id. A cut name shows on hover. */
export function KeyName({ id }: { id: string | null }) {
  const { apiKey } = useViewer();
  const mayRead = useScope('ADMIN');
  const { data } = useServerQuery(Keys, {}, { pause: !mayRead || id === null || id === apiKey.id });
  if (id === null) return 'by the first start';
  if (id === apiKey.id) return <span title={apiKey.name}>by {apiKey.name} (this key)</span>;
  const found = data?.viewer.account.apiKeys.find((key) => key.id === id);
  if (found) return <span title={found.name}>by {found.name}</span>;
  return (
    <>
      by key <span className="mono">…{id.slice(-6)}</span>
    </>
  );
}
