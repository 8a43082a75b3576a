import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useWaitingCount } from '../approvals/use-waiting-count.ts';
import { Icon } from '../parts/icon.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import { useBotName } from '../server/bot-names.ts';
import { useOptionalViewer } from '../server/viewer.ts';
import { AccountMenu } from './account-menu.tsx';
import { type Destination, destinationsOf, isAt } from './destinations.ts';
import { useLinkedEnvironment } from './environments.ts';
import { MoreMenu } from './more-menu.tsx';
import { useShownBot } from './shown-bot.ts';
import './side.css';

/** The navigation: the console's screens, the references, the account. On narrow windows it is a bar at the bottom. */
export function Side() {
  const viewer = useOptionalViewer();
  const botId = useShownBot();
  const environment = useLinkedEnvironment();
  const counts = { approvals: useWaitingCount(botId, environment) };
  const scopes = viewer?.apiKey.scopes ?? [];
  const { general, bot, reference } = destinationsOf(botId, environment, scopes, counts);
  return (
    <nav className="side" aria-label="Main">
      <Link href="/bots" className="side-brand" aria-label="Parley, your bots">
        <Wordmark />
      </Link>
      {botId && <SideBot botId={botId} />}
      <NavLinks destinations={bot} />
      {botId && <p className="side-label">Account</p>}
      <NavLinks destinations={general} />
      <p className="side-label">Reference</p>
      <NavLinks destinations={reference} />
      <MoreMenu destinations={[...bot, ...general, ...reference]} />
      <AccountMenu />
    </nav>
  );
}

function SideBot({ botId }: { botId: string }) {
  return <p className="side-label cut">{useBotName(botId)}</p>;
}

function NavLinks({ destinations }: { destinations: Destination[] }) {
  return destinations.map((destination) => (
    <NavLink key={destination.href} destination={destination} />
  ));
}

function NavLink({ destination }: { destination: Destination }) {
  const [location] = useLocation();
  const { href, icon, label, isPage, isInBar, count } = destination;
  const isCurrent = isAt(destination, location);
  const anchor = useRef<HTMLAnchorElement>(null);
  // A low window scrolls the navigation.
  useEffect(() => {
    if (isCurrent) anchor.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isCurrent]);
  const Anchor = isPage ? 'a' : Link;
  return (
    <Anchor
      ref={anchor}
      href={href}
      className={isInBar ? 'nav' : 'nav nav-rest'}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <Icon name={icon} />
      {label}
      {count > 0 && (
        <span className="nav-count number">
          {count}
          <span className="unseen"> waiting</span>
        </span>
      )}
    </Anchor>
  );
}
