import { type ReactNode, useState } from 'react';
import { Tabs } from '../../../parts/tabs.tsx';
import type { Finding } from '../editor/state.ts';
import type { PanelName } from '../use-parameters.ts';
import { useIsNarrow } from './use-is-narrow.ts';

type TabName = PanelName | 'editor';

/** The panels that stay once they were open. */
const KEPT: readonly TabName[] = ['tests'];

/** The panels beside the editor. Where only one of them has room, the editor is a tab too. */
export function Panels({
  findings,
  current: named,
  onChange,
  panels,
}: {
  findings: readonly Finding[];
  current: PanelName | undefined;
  onChange(panel: PanelName | undefined): void;
  panels: Record<PanelName, ReactNode>;
}) {
  const hasTabs = useIsNarrow();
  const count = findings.length;
  const tabs: { name: TabName; label: string }[] = [
    ...(hasTabs ? [{ name: 'editor' as const, label: 'Editor' }] : []),
    { name: 'chat', label: 'Test chat' },
    { name: 'outline', label: 'Outline' },
    { name: 'problems', label: count === 0 ? 'Problems' : `Problems ${count}` },
    { name: 'tests', label: 'Tests' },
  ];
  const current: TabName = named ?? (hasTabs ? 'editor' : 'chat');
  // The conversation goes on, and the results of tests stay, while another panel is open.
  const [kept, setKept] = useState<ReadonlySet<string>>(new Set(['chat']));
  if (KEPT.includes(current) && !kept.has(current)) setKept(new Set([...kept, current]));
  const isMounted = (name: string) => name === current || kept.has(name);
  return (
    <aside className="studio-side" aria-label="Panels">
      <Tabs<TabName>
        label="Panels"
        tabs={tabs}
        current={current}
        onChange={(name) => onChange(name === 'editor' ? undefined : name)}
      >
        {Object.entries(panels).map(([name, panel]) => (
          <div key={name} className="studio-panel" hidden={name !== current}>
            {isMounted(name) && panel}
          </div>
        ))}
      </Tabs>
    </aside>
  );
}
