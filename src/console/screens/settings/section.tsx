import type { ReactNode } from 'react';
import type { KeyScope } from '../../../generated/operations/console.ts';
import { Screen } from '../../frame/screen.tsx';
import { Empty } from '../../parts/state.tsx';
import { LinkTabs } from '../../parts/tabs.tsx';
import { ROWS } from '../../screen-addresses.ts';
import { SCREENS } from '../../screens.ts';
import { lacks, useViewer } from '../../server/viewer.ts';
import './settings.css';

type SectionName = 'account' | 'usage' | 'keys' | 'audit' | 'accounts' | 'server';

const TABS = ROWS.filter(({ group, parent }) => group === 'Settings' && !parent).map(
  ({ path, title, needs }) => ({ href: path, label: title, needs }),
);

/** One section of the settings, below the links to all of them. */
export function Section({
  screen,
  actions,
  children,
}: {
  /** Names the title, and the scope without which the section only says why it is empty. */
  screen: SectionName;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const { scopes } = useViewer().apiKey;
  const { title, needs }: { title: string; needs?: KeyScope } = SCREENS[screen];
  const isRefused = needs !== undefined && !scopes.includes(needs);
  return (
    <Screen title={title} actions={!isRefused && actions}>
      <LinkTabs
        label="Settings"
        tabs={TABS.filter((tab) => tab.needs !== 'OPERATOR' || scopes.includes(tab.needs))}
      />
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
