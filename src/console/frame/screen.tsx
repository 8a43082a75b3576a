import type { ReactNode } from 'react';
import { EnvironmentFault } from './environment-switch.tsx';
import './screen.css';

/** A screen: its bar with title and actions, and one scroll container below. */
export function Screen({
  title,
  name = title,
  actions,
  children,
}: {
  title: string;
  /** The name of the browser's tab, if it differs from the title. */
  name?: string | undefined;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <main className="screen">
      <title>{`${name} · Parley`}</title>
      <header className="screen-bar">
        <h1 className="cut">{title}</h1>
        <div className="screen-actions">{actions}</div>
      </header>
      <div className="screen-body">
        <EnvironmentFault />
        {children}
      </div>
    </main>
  );
}
