import { type ReactNode, useId, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import './tabs.css';

type Tab<Name extends string> = { name: Name; label: string };

/** Tabs whose panels have addresses. The last one that begins the address is the current one. */
export function LinkTabs({
  label,
  tabs,
}: {
  label: string;
  tabs: { href: string; label: string }[];
}) {
  const [location] = useLocation();
  const current = tabs.findLast(({ href }) => `${location}/`.startsWith(`${href}/`));
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.href}
          href={tab.href}
          ref={tab === current ? scrollHere : undefined}
          aria-current={tab === current ? 'page' : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  );
}

/** Tabs that do not fit scroll, so the current one may be out of view. */
function scrollHere(tab: HTMLElement | null): void {
  tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
}

/** Tabs over one panel. Arrow keys move between them. */
export function Tabs<Name extends string>({
  label,
  tabs,
  current,
  onChange,
  children,
}: {
  label: string;
  tabs: Tab<Name>[];
  current: Name;
  onChange(name: Name): void;
  children: ReactNode;
}) {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const move = (step: number) => {
    const at = tabs.findIndex(({ name }) => name === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChange(next.name);
    list.current?.querySelector<HTMLElement>(`[data-name="${next.name}"]`)?.focus();
  };
  return (
    <>
      <div
        ref={list}
        className="tabs"
        role="tablist"
        aria-label={label}
        tabIndex={-1}
        onKeyDown={({ key }) => {
          if (key === 'ArrowRight') move(1);
          if (key === 'ArrowLeft') move(-1);
        }}
      >
        {tabs.map(({ name, label: text }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            data-name={name}
            ref={name === current ? scrollHere : undefined}
            aria-selected={name === current}
            aria-controls={`${id}-panel`}
            tabIndex={name === current ? 0 : -1}
            onClick={() => onChange(name)}
          >
            {text}
          </button>
        ))}
      </div>
      <div
        className="tab-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current}`}
      >
        {children}
      </div>
    </>
  );
}
