import { Route, Switch } from 'wouter';
import { SCREENS } from '../../screens.ts';
import { NotFound } from '../not-found.tsx';
import { AccountSettings } from './account.tsx';
import { Accounts } from './accounts/accounts.tsx';
import { Audit } from './audit/audit.tsx';
import { Keys } from './keys/keys.tsx';
import { ServerSettings } from './server.tsx';
import { UsageSettings } from './usage.tsx';

/** The account, its keys and usage, and for operators all accounts and the server. */
export default function Settings() {
  return (
    <Switch>
      <Route path={SCREENS.account.path}>
        <AccountSettings />
      </Route>
      <Route path={SCREENS.usage.path}>
        <UsageSettings />
      </Route>
      <Route path={SCREENS.newKey.path}>
        <Keys isCreating />
      </Route>
      <Route path={SCREENS.keys.path}>
        <Keys />
      </Route>
      <Route path={SCREENS.audit.path}>
        <Audit />
      </Route>
      <Route path={SCREENS.newAccount.path}>
        <Accounts isCreating />
      </Route>
      <Route path={SCREENS.accounts.path}>
        <Accounts />
      </Route>
      <Route path={SCREENS.server.path}>
        <ServerSettings />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
