import { Route, Switch } from 'wouter';
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
      <Route path="/settings">
        <AccountSettings />
      </Route>
      <Route path="/settings/usage">
        <UsageSettings />
      </Route>
      <Route path="/settings/keys/new">
        <Keys isCreating />
      </Route>
      <Route path="/settings/keys">
        <Keys />
      </Route>
      <Route path="/settings/audit">
        <Audit />
      </Route>
      <Route path="/settings/accounts/new">
        <Accounts isCreating />
      </Route>
      <Route path="/settings/accounts">
        <Accounts />
      </Route>
      <Route path="/settings/server">
        <ServerSettings />
      </Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
