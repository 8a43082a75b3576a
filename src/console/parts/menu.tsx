import { type KeyboardEvent, type ReactNode, useCallback, useLayoutEffect, useState } from 'react';
import { Link } from 'wouter';
import './menu.css';
import { createTypeAhead } from './type-ahead.ts';
import { usePopup } from './use-popup.ts';

/**
 * A menu that opens below its button, on its first item, or by the up arrow on its last one.
 * Source: WAI-ARIA Authoring Practices, "Menu Button Pattern".
 */
export function Menu({
  label,
  className = 'icon-button',
  button,
  hasText = false,
  children,
}: {
  label: string;
  className?: string;
  button: ReactNode;
  /** Whether the button's text is its name. */
  hasText?: boolean;
  children: ReactNode;
}) {
  const [findTyped] = useState(createTypeAhead);
  const { popup, openings, show, hide, buttonProps, popupProps } = usePopup();
  const items = useCallback(
    () => [...(popup.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])],
    [popup],
  );
  useLayoutEffect(() => {
    // The arrow keys of the button have focused an item.
    if (openings > 0 && !popup.current?.matches(':focus-within')) items()[0]?.focus();
  }, [openings, popup, items]);
  const openByKey = (event: KeyboardEvent) => {
    const first = { ArrowDown: 0, ArrowUp: -1 }[event.key];
    if (first === undefined) return;
    event.preventDefault();
    show();
    items().at(first)?.focus();
  };
  const move = (event: KeyboardEvent) => {
    const all = items();
    const at = all.findIndex((item) => item.matches(':focus'));
    const { key, ctrlKey, metaKey, altKey } = event;
    // The button gets the focus, from where the browser moves it on.
    if (key === 'Tab') return hide();
    const names = all.map((item) => item.textContent.trim());
    const isLetter = key.length === 1 && key !== ' ' && !ctrlKey && !metaKey && !altKey;
    const next = isLetter
      ? findTyped(key, names, at, event.timeStamp)
      : { ArrowDown: at + 1, ArrowUp: Math.max(at, 0) - 1, Home: 0, End: -1 }[key];
    if (key === ' ' && all[at] instanceof HTMLAnchorElement) all[at].click();
    else if (next === undefined) return;
    else if (!isLetter || next !== -1) all.at(next % all.length)?.focus();
    event.preventDefault();
  };
  return (
    <>
      <button
        {...buttonProps}
        className={className}
        aria-label={hasText ? undefined : label}
        aria-haspopup="menu"
        onKeyDown={openByKey}
      >
        {button}
      </button>
      <div
        {...popupProps}
        className="menu"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onClick={hide}
        onKeyDown={move}
      >
        {children}
      </div>
    </>
  );
}

export function MenuItem({
  role = 'menuitem',
  isChecked,
  isDanger = false,
  unavailable,
  onSelect,
  children,
}: {
  /** A `menuitemradio` is one choice of several. A `menuitemcheckbox` keeps the menu open for the next choice. */
  role?: 'menuitem' | 'menuitemradio' | 'menuitemcheckbox';
  isChecked?: boolean;
  isDanger?: boolean;
  /** Why the item cannot be chosen. */
  unavailable?: string | false | undefined;
  onSelect(): void;
  children: ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: only a role that allows `aria-checked` has it
    <button
      type="button"
      role={role}
      tabIndex={-1}
      className={isDanger ? 'menu-item menu-danger' : 'menu-item'}
      aria-checked={isChecked}
      aria-disabled={unavailable ? true : undefined}
      title={unavailable || undefined}
      onClick={(event) => {
        if (unavailable || role === 'menuitemcheckbox') event.stopPropagation();
        if (!unavailable) onSelect();
      }}
    >
      {children}
    </button>
  );
}

/** @param isPage whether the address is a page outside the console's views. */
export function MenuLink({
  href,
  isPage = false,
  isCurrent,
  children,
}: {
  href: string;
  isPage?: boolean | undefined;
  isCurrent: boolean;
  children: ReactNode;
}) {
  const Anchor = isPage ? 'a' : Link;
  return (
    <Anchor
      href={href}
      role="menuitem"
      tabIndex={-1}
      className="menu-item"
      aria-current={isCurrent ? 'page' : undefined}
    >
      {children}
    </Anchor>
  );
}
