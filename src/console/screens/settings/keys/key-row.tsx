import { useLocation } from 'wouter';
import { Badge } from '../../../parts/badge.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { RelativeTime } from '../../../parts/time.tsx';
import { scopeName, scopeSentence } from '../../../server/plans.ts';
import { useViewer } from '../../../server/viewer.ts';
import { hasEnded, type ListedKey } from './key.ts';

/** Bots that a row names; the others are counted. */
const NAMED = 2;

export type KeyAction = 'edit' | 'rotate' | 'revoke';

export function KeyRow({
  apiKey,
  onAction,
}: {
  apiKey: ListedKey;
  onAction(action: KeyAction): void;
}) {
  const [, navigate] = useLocation();
  const isOwn = useViewer().apiKey.id === apiKey.id;
  const ended = hasEnded(apiKey) && 'This key has ended.';
  const { id, name, prefix, scopes, bots, createdAt, createdBy, lastUsedAt } = apiKey;
  return (
    <tr>
      <td>
        <span className="table-name">{name}</span>{' '}
        {isOwn && <span className="chip">this session</span>}
        <br />
        <span className="mono faint">{prefix}…</span>
      </td>
      <td data-label="Scopes" title={scopes.map(scopeName).join(', ')}>
        {scopeSentence(scopes)}
      </td>
      <td data-label="Bots">
        <Bots bots={bots} />
      </td>
      <td data-label="Created">
        <RelativeTime at={createdAt} />
        {createdBy && <div className="faint cut key-maker">by {createdBy.name}</div>}
      </td>
      <td data-label="Last used">
        {lastUsedAt ? <RelativeTime at={lastUsedAt} /> : <span className="faint">never</span>}
      </td>
      <td data-label="Expires">
        <Expiry {...apiKey} />
      </td>
      <td className="table-menu">
        <Menu label={`Actions for ${name}`} button={<Icon name="dots" />}>
          <MenuItem unavailable={ended} onSelect={() => onAction('edit')}>
            Edit…
          </MenuItem>
          <MenuItem unavailable={ended} onSelect={() => onAction('rotate')}>
            Rotate…
          </MenuItem>
          <MenuItem onSelect={() => navigate(`/settings/audit?key=${id}`)}>Audit log</MenuItem>
          <MenuItem onSelect={() => void navigator.clipboard.writeText(id)}>Copy id</MenuItem>
          <hr />
          <MenuItem isDanger unavailable={ended} onSelect={() => onAction('revoke')}>
            Revoke…
          </MenuItem>
        </Menu>
      </td>
    </tr>
  );
}

function Bots({ bots }: Pick<ListedKey, 'bots'>) {
  if (bots === null) return 'all';
  if (bots.length === 0) return <span className="faint">none</span>;
  const names = bots.map(({ name }) => name);
  const rest = names.length - NAMED;
  return (
    <span title={names.join(', ')}>
      {names.slice(0, NAMED).join(', ')}
      {rest > 0 && <span className="faint"> and {rest} more</span>}
    </span>
  );
}

function Expiry(key: ListedKey) {
  const { revokedAt, expiresAt } = key;
  if (revokedAt)
    return (
      <Badge tone="off">
        revoked <RelativeTime at={revokedAt} />
      </Badge>
    );
  if (!expiresAt) return <span className="faint">never</span>;
  return hasEnded(key) ? (
    <Badge tone="off">
      expired <RelativeTime at={expiresAt} />
    </Badge>
  ) : (
    <RelativeTime at={expiresAt} />
  );
}
