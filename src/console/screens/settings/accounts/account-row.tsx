import { Badge } from '../../../parts/badge.tsx';
import { Id } from '../../../parts/copy.tsx';
import { Icon } from '../../../parts/icon.tsx';
import { Menu, MenuItem } from '../../../parts/menu.tsx';
import { RelativeTime } from '../../../parts/time.tsx';
import { planName } from '../../../server/plans.ts';
import { useViewer } from '../../../server/viewer.ts';
import type { ListedAccount } from './account-dialogs.tsx';

export type AccountAction = 'change' | 'suspend' | 'resume' | 'delete';

const OWN = 'An operator cannot suspend or delete its own account.';

export function AccountRow({
  account,
  onAction,
}: {
  account: ListedAccount;
  onAction(action: AccountAction): void;
}) {
  const isOwn = useViewer().account.id === account.id;
  const { id, name, plan, requestsPerMinute, requestsPerDay, createdAt, suspendedAt } = account;
  return (
    <tr>
      <td>
        <span className="table-name">{name}</span> {isOwn && <span className="chip">yours</span>}
        <br />
        <Id>{id}</Id>
      </td>
      <td data-label="State">
        {suspendedAt ? (
          <Badge tone="warn">
            suspended <RelativeTime at={suspendedAt} />
          </Badge>
        ) : (
          <Badge tone="good">active</Badge>
        )}
      </td>
      <td data-label="Plan">{planName(plan)}</td>
      <td className="right" data-label="A minute">
        {requestsPerMinute.toLocaleString('en')}
      </td>
      <td className="right" data-label="A day">
        {requestsPerDay.toLocaleString('en')}
      </td>
      <td data-label="Created">
        <RelativeTime at={createdAt} />
      </td>
      <td className="table-menu">
        <Menu label={`Actions for ${name}`} button={<Icon name="dots" />}>
          <MenuItem onSelect={() => onAction('change')}>Change…</MenuItem>
          {suspendedAt ? (
            <MenuItem onSelect={() => onAction('resume')}>Resume</MenuItem>
          ) : (
            <MenuItem unavailable={isOwn && OWN} onSelect={() => onAction('suspend')}>
              Suspend…
            </MenuItem>
          )}
          <hr />
          <MenuItem isDanger unavailable={isOwn && OWN} onSelect={() => onAction('delete')}>
            Delete…
          </MenuItem>
        </Menu>
      </td>
    </tr>
  );
}
