import type { ReactNode } from 'react';
import type { KeyScope } from '../../../operations/console/operations.ts';
import { Screen } from '../../frame/screen.tsx';
import { Empty } from '../../parts/state.tsx';
import { LinkTabs } from '../../parts/tabs.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
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
  const isOperator = useScope('OPERATOR');
  const isAllowed = useScope(needs ?? 'CHAT') || needs === undefined;
  const tabs = [
    { href: '/settings', label: 'Account' },
    { href: '/settings/usage', label: 'Usage' },
    { href: '/settings/keys', label: 'API keys' },
    { href: '/settings/audit', label: 'Audit log' },
    ...(isOperator ? [{ href: '/settings/accounts', label: 'Accounts' }] : []),
    { href: '/settings/server', label: 'Server' },
  ];
  return (
    <Screen title={title} actions={isAllowed && actions}>
      <LinkTabs label="Settings" tabs={tabs} />
      {isAllowed ? (
        children
      ) : (
        <Empty title={`${title}: not for this key`}>
          <p>{lacks(needs ?? 'CHAT')} Sign in with a key that has it to see this page.</p>
        </Empty>
      )}
    </Screen>
  );
}
