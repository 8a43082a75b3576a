import type { ReactNode } from 'react';
import './screen.css';

/** A screen: its bar with title and actions, and one scroll container below. */
export function Screen({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <main className="screen">
      <title>{`${title} · Parley`}</title>
      <header className="screen-bar">
        <h1 className="cut">{title}</h1>
        <div className="screen-actions">{actions}</div>
      </header>
      <div className="screen-body">{children}</div>
    </main>
  );
}
