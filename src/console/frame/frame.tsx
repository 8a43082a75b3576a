import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Toasts } from '../parts/toast.tsx';
import { Wordmark } from '../parts/wordmark.tsx';
import { AccountMenu } from './account-menu.tsx';
import { AwayBanner } from './away-banner.tsx';
import './frame.css';
import { OpenPalette } from './palette/open-palette.tsx';

/** What surrounds every screen: navigation, the account, messages. */
export function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="frame">
      <nav className="side" aria-label="Main">
        <Link href="/bots" className="side-brand" aria-label="Parley, your bots">
          <Wordmark />
        </Link>
        <OpenPalette />
        <NavLink href="/bots" icon="bot">
          Bots
        </NavLink>
        <NavLink href="/settings" icon="sliders">
          Settings
        </NavLink>
        <BotNav />
        <p className="side-label">Reference</p>
        <ReferenceLink href="/docs" icon="book">
          REST API
        </ReferenceLink>
        <ReferenceLink href="/graphql" icon="code">
          GraphiQL
        </ReferenceLink>
        <AccountMenu />
      </nav>
      <div className="frame-main">
        <AwayBanner />
        {children}
      </div>
      <Toasts />
    </div>
  );
}

/** The screens of the bot that the address names. */
function BotNav() {
  const [location] = useLocation();
  const [, id] = /^\/bots\/([^/]+)\/./.exec(location) ?? [];
  if (!id) return null;
  return (
    <>
      <p className="side-label cut">{id}</p>
      <NavLink href={`/bots/${id}/playground`} icon="chat">
        Playground
      </NavLink>
    </>
  );
}

function NavLink({ href, icon, children }: { href: string; icon: IconName; children: string }) {
  const [location] = useLocation();
  const isOfBot = href === '/bots' && /^\/bots\/[^/]+\/./.test(location);
  const isCurrent = location === href || (location.startsWith(`${href}/`) && !isOfBot);
  return (
    <Link href={href} className="nav" aria-current={isCurrent ? 'page' : undefined}>
      <Icon name={icon} />
      {children}
    </Link>
  );
}

/** A link to a page outside the console. */
function ReferenceLink({
  href,
  icon,
  children,
}: {
  href: string;
  icon: IconName;
  children: string;
}) {
  return (
    <a href={href} className="nav">
      <Icon name={icon} />
      {children}
    </a>
  );
}
