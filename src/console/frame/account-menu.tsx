import type { ReactNode } from 'react';
import { Icon } from '../parts/icon.tsx';
import { Menu, MenuItem } from '../parts/menu.tsx';
import { planName } from '../server/plans.ts';
import { session } from '../server/session.ts';
import { useStore } from '../server/store.ts';
import { useOptionalViewer, type Viewer } from '../server/viewer.ts';
import { endSession } from './sign-out.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';

/** The signed-in account with its plan and limit, the theme, and signing in or out. */
export function AccountMenu() {
  const viewer = useOptionalViewer();
  return viewer ? <ViewerMenu viewer={viewer} /> : <VisitorMenu />;
}

/** The signed-in key, the theme, and signing in or out. */
export function AccountItems() {
  const viewer = useOptionalViewer();
  return (
    <>
      {viewer && (
        <>
          <p className="menu-note">
            Signed in with the key {viewer.apiKey.name} (
            <span className="mono">{viewer.apiKey.prefix}…</span>), scopes{' '}
            {viewer.apiKey.scopes.map((scope) => scope.toLowerCase()).join(', ')}
          </p>
          <hr />
        </>
      )}
      <ThemeChoices />
      <hr />
      {viewer ? (
        <MenuItem onSelect={() => void endSession()}>Sign out</MenuItem>
      ) : (
        <MenuItem onSelect={() => location.assign('/bots')}>Sign in…</MenuItem>
      )}
    </>
  );
}

function ViewerMenu({ viewer: { account, rateLimit } }: { viewer: Viewer }) {
  return (
    <Menu
      label="Account"
      className="account"
      hasText
      button={
        <>
          <Icon name="user" />
          <span className="account-name cut">
            <span className="unseen">Account </span>
            {account.name}
          </span>
          <span className="account-limit number cut">
            {planName(account.plan)} · {rateLimit.perMinute.toLocaleString('en')} / min
          </span>
        </>
      }
    >
      <AccountItems />
    </Menu>
  );
}

/** Replaces the account on pages that need no session. */
function VisitorMenu() {
  const isUnknown = useStore(session) === 'unknown';
  return (
    <Menu
      label="Account"
      className={isUnknown ? 'account account-unknown' : 'account'}
      hasText
      button={
        <>
          <Icon name="user" />
          <span className="account-name cut">Sign in</span>
          <span className="account-limit cut">or choose a theme</span>
        </>
      }
    >
      <AccountItems />
    </Menu>
  );
}

function ThemeChoices(): ReactNode {
  const chosen = useStore(theme);
  return THEMES.map(([name, label]) => (
    <MenuItem
      key={name}
      role="menuitemradio"
      isChecked={name === chosen}
      onSelect={() => chooseTheme(name)}
    >
      {label}
    </MenuItem>
  ));
}
