import type { ReactNode } from 'react';
import { Toasts } from '../parts/toast.tsx';
import { AwayBanner } from './away-banner.tsx';
import './frame.css';
import { Shortcuts } from './shortcuts.tsx';
import { Side } from './side.tsx';
import { TopBar } from './top-bar.tsx';

/** What surrounds every screen: navigation, the account, messages. */
export function Frame({ children }: { children: ReactNode }) {
  return (
    <div className="frame">
      <Side />
      <div className="frame-main">
        <TopBar />
        <AwayBanner />
        {children}
      </div>
      <Shortcuts />
      <Toasts />
    </div>
  );
}
