import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Link } from 'wouter';
import './menu.css';

/** A menu that opens below its button. The browser closes it on Escape, and on a click elsewhere. */
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
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);

  const items = () => [...(list.current?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
  const toggled = (isOpen: boolean) => {
    trigger.current?.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) return;
    place(trigger.current, list.current);
    items()[0]?.focus();
  };
  useEffect(() => {
    const follow = () => {
      if (!list.current?.matches(':popover-open')) return;
      // A window of another width may not have the button.
      if (trigger.current?.checkVisibility()) place(trigger.current, list.current);
      else list.current.hidePopover();
    };
    addEventListener('resize', follow);
    return () => removeEventListener('resize', follow);
  }, []);

  return (
    <>
      <button
        ref={trigger}
        type="button"
        className={className}
        aria-label={hasText ? undefined : label}
        aria-haspopup="menu"
        aria-expanded="false"
        popoverTarget={id}
      >
        {button}
      </button>
      <div
        ref={list}
        id={id}
        className="menu"
        popover="auto"
        role="menu"
        aria-label={label}
        tabIndex={-1}
        onToggle={(event) => toggled(event.newState === 'open')}
        onClick={() => list.current?.hidePopover()}
        onKeyDown={(event) => {
          const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
          if (!step) return;
          event.preventDefault();
          const all = items();
          const at = all.findIndex((item) => item.matches(':focus'));
          all[(at + step + all.length) % all.length]?.focus();
        }}
      >
        {children}
      </div>
    </>
  );
}

/** Places a menu below its button, or above it if the window has no space below. */
export function place(trigger: HTMLElement | null, list: HTMLElement | null): void {
  if (!trigger || !list) return;
  const from = trigger.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = list;
  const left = Math.max(8, Math.min(from.left, innerWidth - width - 8));
  const below = from.bottom + 4;
  const top = below + height > innerHeight - 8 ? from.top - height - 4 : below;
  list.style.left = `${left}px`;
  list.style.top = `${Math.max(8, top)}px`;
}

export function MenuItem({
  children,
  isDanger = false,
  unavailable,
  onSelect,
}: {
  children: ReactNode;
  isDanger?: boolean;
  /** Why the item cannot be chosen. */
  unavailable?: string | false | undefined;
  onSelect(): void;
}) {
  return (
    <button
      type="button"
      role="menuitem"
      className={isDanger ? 'menu-item menu-danger' : 'menu-item'}
      aria-disabled={unavailable ? true : undefined}
      title={unavailable || undefined}
      onClick={(event) => {
        if (unavailable) event.stopPropagation();
        else onSelect();
      }}
    >
      {children}
    </button>
  );
}

/** @param isPage whether the address is a page of its own, outside the console's views. */
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
      className="menu-item"
      aria-current={isCurrent ? 'page' : undefined}
    >
      {children}
    </Anchor>
  );
}

/** One choice of several. */
export function MenuChoice({
  children,
  isChosen,
  onSelect,
}: {
  children: ReactNode;
  isChosen: boolean;
  onSelect(): void;
}) {
  return (
    <button
      type="button"
      role="menuitemradio"
      aria-checked={isChosen}
      className="menu-item"
      onClick={onSelect}
    >
      {children}
    </button>
  );
}
