import { Icon } from '../parts/icon.tsx';
import { Menu, MenuChoice, MenuItem } from '../parts/menu.tsx';
import { planName } from '../screens/settings/plans.ts';
import { useStore } from '../server/store.ts';
import { useViewer } from '../server/viewer.ts';
import { leave } from './leave.ts';
import { chooseTheme, THEMES, theme } from './theme.ts';

/** The signed-in account with its plan and limit, the theme, and signing out. */
export function AccountMenu() {
  const { account, apiKey, rateLimit } = useViewer();
  const chosen = useStore(theme);
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
      <p className="menu-note">
        Signed in with the key {apiKey.name} (<span className="mono">{apiKey.prefix}…</span>),
        scopes {apiKey.scopes.map((scope) => scope.toLowerCase()).join(', ')}
      </p>
      <hr />
      {THEMES.map(([name, label]) => (
        <MenuChoice key={name} isChosen={name === chosen} onSelect={() => chooseTheme(name)}>
          {label}
        </MenuChoice>
      ))}
      <hr />
      <MenuItem onSelect={() => void leave()}>Sign out</MenuItem>
    </Menu>
  );
}
