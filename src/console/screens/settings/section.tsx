import type { ReactNode } from 'react';
import type { KeyScope } from '../../../generated/operations/console.ts';
import { Screen } from '../../frame/screen.tsx';
import { Empty } from '../../parts/state.tsx';
import { LinkTabs } from '../../parts/tabs.tsx';
import { lacks, useViewer } from '../../server/viewer.ts';
import './settings.css';

/** One section of the settings, below the links to all of them. */
export function Section({
  title,
  needs,
  actions,
  children,
}: {
  title: string;
  /** The scope without which the section only says why it is empty. */
  needs?: KeyScope;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { scopes } = useViewer().apiKey;
  const isRefused = needs !== undefined && !scopes.includes(needs);
  const tabs = [
    { href: '/settings', label: 'Account' },
    { href: '/settings/usage', label: 'Usage' },
    { href: '/settings/keys', label: 'API keys' },
    { href: '/settings/audit', label: 'Audit log' },
    ...(scopes.includes('OPERATOR') ? [{ href: '/settings/accounts', label: 'Accounts' }] : []),
    { href: '/settings/server', label: 'Server' },
  ];
  return (
    <Screen title={title} actions={!isRefused && actions}>
      <LinkTabs label="Settings" tabs={tabs} />
      {isRefused ? (
        <Empty title={`${title}: not for this key`}>
          <p>{lacks(needs)} Sign in with a key that has it to see this page.</p>
        </Empty>
      ) : (
        children
      )}
    </Screen>
  );
}
