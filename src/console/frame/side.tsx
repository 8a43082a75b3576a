import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import { useStore } from '../server/store.ts';
import { useOptionalViewer } from '../server/viewer.ts';
import { AccountMenu } from './account-menu.tsx';
import { OpenPalette } from './palette/open-palette.tsx';
import { shownBot } from './shown-bot.ts';
import './side.css';

/** The navigation: the console's screens, the references, the account. */
export function Side() {
  const viewer = useOptionalViewer();
  return (
    <nav className="side" aria-label="Main">
      <Link href="/bots" className="side-brand" aria-label="Parley, your bots">
        <Wordmark />
      </Link>
      {viewer && <OpenPalette />}
      <NavLink href="/bots" icon="bot">
        Bots
      </NavLink>
      <NavLink href="/settings" icon="sliders">
        Settings
      </NavLink>
      <BotNav />
      <p className="side-label">Reference</p>
      <NavLink href="/guide" icon="book">
        Guide
      </NavLink>
      <NavLink href="/docs" icon="list" isPage>
        REST API
      </NavLink>
      <NavLink href="/graphql" icon="code" isPage>
        GraphiQL
      </NavLink>
      <AccountMenu />
    </nav>
  );
}

/** The screens of the bot that the address names, or whose run is open. */
function BotNav() {
  const [location] = useLocation();
  const ofRun = useStore(shownBot);
  const [, id = ofRun] = /^\/bots\/([^/]+)\/./.exec(location) ?? [];
  if (!id) return null;
  return (
    <>
      <p className="side-label cut">{id}</p>
      <NavLink href={`/bots/${id}/playground`} icon="chat">
        Playground
      </NavLink>
      <NavLink href={`/bots/${id}/runs`} icon="list" isCurrent={/^\/runs\/./.test(location)}>
        Runs
      </NavLink>
      <NavLink href={`/bots/${id}/sessions`} icon="users">
        Sessions
      </NavLink>
      <NavLink href={`/bots/${id}/deployments`} icon="layers">
        Deployments
      </NavLink>
      <NavLink href={`/bots/${id}/studio`} icon="edit">
        Studio
      </NavLink>
    </>
  );
}

function NavLink({
  href,
  icon,
  isPage = false,
  isCurrent: isOurs = false,
  children,
}: {
  href: string;
  icon: IconName;
  /** Whether the address is a page of its own, outside the console's views. */
  isPage?: boolean;
  /** Whether the screen of another address belongs to this place. */
  isCurrent?: boolean;
  children: ReactNode;
}) {
  const [location] = useLocation();
  const isOfBot = href === '/bots' && /^\/bots\/[^/]+\/./.test(location);
  const isCurrent = isOurs || location === href || (location.startsWith(`${href}/`) && !isOfBot);
  const Anchor = isPage ? 'a' : Link;
  const anchor = useRef<HTMLAnchorElement>(null);
  // On narrow windows the navigation is a bar that scrolls.
  useEffect(() => {
    if (isCurrent) anchor.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [isCurrent]);
  return (
    <Anchor
      ref={anchor}
      href={href}
      className={isPage ? 'nav nav-page' : 'nav'}
      aria-current={isCurrent ? 'page' : undefined}
    >
      <Icon name={icon} />
      {children}
    </Anchor>
  );
}
