import { Link, useLocation } from 'wouter';
import type {
  BotsQuery,
  RunningDeploymentFragment,
} from '../../../generated/operations/console.ts';
import { KeyName } from '../../deploy/key-name.tsx';
import { versionName } from '../../deploy/version.ts';
import { count } from '../../numbers.ts';
import { Badge } from '../../parts/badge.tsx';
import { Id } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { Skeleton } from '../../parts/state.tsx';
import { duration, RelativeTime } from '../../parts/time.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import type { Stats } from './use-stats.ts';

export type ListedBot = BotsQuery['bots']['edges'][number]['node'];

export function BotRow({
  bot,
  stats,
  onRename,
  onDelete,
}: {
  bot: ListedBot;
  stats: Stats;
  onRename(): void;
  onDelete(): void;
}) {
  const [, navigate] = useLocation();
  const mayChange = useScope('ADMIN');
  const address = `/bots/${bot.id}${bot.production || bot.staging ? '' : '/start'}`;
  return (
    <tr className="bot">
      <td className="bot-name">
        <Link href={address}>{bot.name}</Link>
        <Id>{bot.id}</Id>
      </td>
      <td data-label="Production">
        <Running botId={bot.id} deployment={bot.production} />
      </td>
      <td data-label="Staging">
        <Running botId={bot.id} deployment={bot.staging} />
      </td>
      <StatsCells stats={stats} botId={bot.id} />
      <td className="bot-menu">
        <Menu label={`Actions for ${bot.name}`} button={<Icon name="dots" />}>
          <MenuItem onSelect={() => navigate(address)}>Open</MenuItem>
          <MenuItem onSelect={() => navigate(`/bots/${bot.id}/runs`)}>Runs</MenuItem>
          <MenuItem onSelect={() => navigate(`/bots/${bot.id}/sessions`)}>Sessions</MenuItem>
          <MenuItem onSelect={() => navigate(`/bots/${bot.id}/deployments`)}>Deployments</MenuItem>
          <MenuItem onSelect={() => navigate(`/bots/${bot.id}/chat-page`)}>Chat page</MenuItem>
          <MenuItem onSelect={() => void navigator.clipboard.writeText(bot.id)}>Copy id</MenuItem>
          <MenuItem unavailable={!mayChange && lacks('ADMIN')} onSelect={onRename}>
            Rename…
          </MenuItem>
          <hr />
          <MenuItem isDanger unavailable={!mayChange && lacks('ADMIN')} onSelect={onDelete}>
            Delete…
          </MenuItem>
        </Menu>
      </td>
    </tr>
  );
}

function Running({
  botId,
  deployment,
}: {
  botId: string;
  deployment: RunningDeploymentFragment | null;
}) {
  if (!deployment) return <span className="faint">not deployed</span>;
  const { status, message, keyId, deployedAt, createdAt } = deployment;
  return (
    <div className="bot-deployment">
      <Badge tone={status === 'PENDING' ? 'live' : 'good'}>
        <Link href={`/bots/${botId}/deployments/${deployment.id}`}>{versionName(deployment)}</Link>{' '}
        {status === 'PENDING' ? 'pending' : 'deployed'}{' '}
        <RelativeTime at={deployedAt ?? createdAt} />
      </Badge>
      {message && (
        <span className="faint cut" title={message}>
          {message}
        </span>
      )}
      <span className="faint cut">
        <KeyName id={keyId} />
      </span>
    </div>
  );
}

function StatsCells({ stats, botId }: { stats: Stats; botId: string }) {
  if (stats.state === 'reading')
    return (
      <>
        <td data-label="Last 24 hours">
          <Skeleton width="96px" height={22} />
        </td>
        {['Runs', 'Failed', 'p95'].map((label) => (
          <td key={label} className="right" data-label={label}>
            <Skeleton width="28px" />
          </td>
        ))}
      </>
    );
  if (stats.state === 'unknown')
    return (
      <td colSpan={4} className="faint" data-label="Last 24 hours">
        {stats.reason}
      </td>
    );
  const { runs, failed, latencyP95, perHour } = stats.numbers;
  return (
    <>
      <td data-label="Last 24 hours">
        <Sparkline
          bars={perHour}
          label={`${count(runs)} runs in the last 24 hours, ${count(failed)} failed`}
        />
      </td>
      <td className="right" data-label="Runs">
        <Link href={`/bots/${botId}/runs?range=24h`} aria-label={`${count(runs)} runs`}>
          {count(runs)}
        </Link>
      </td>
      <td className={failed > 0 ? 'right bot-failed' : 'right'} data-label="Failed">
        <Link
          href={`/bots/${botId}/runs?range=24h&status=failed`}
          aria-label={`${count(failed)} failed runs`}
        >
          {count(failed)}
        </Link>
      </td>
      <td className="right" data-label="p95">
        {latencyP95 === null ? <span className="faint">–</span> : duration(latencyP95)}
      </td>
    </>
  );
}
