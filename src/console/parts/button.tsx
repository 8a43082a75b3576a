import type { ComponentProps } from 'react';
import { Link } from 'wouter';
import './button.css';
import { Icon, type IconName } from './icon.tsx';

type Look = 'plain' | 'primary' | 'danger' | 'quiet';

type ButtonProps = Omit<ComponentProps<'button'>, 'disabled'> & {
  look?: Look;
  icon?: IconName;
  /** Whether the action is under way. The button keeps its width and does nothing. */
  isBusy?: boolean;
  /** Why the action is not available. The button stays reachable, so that the reason can be read. */
  unavailable?: string | false | undefined;
};

export function Button({
  look = 'plain',
  icon,
  isBusy = false,
  unavailable,
  children,
  onClick,
  type = 'button',
  ...rest
}: ButtonProps) {
  const isOff = isBusy || Boolean(unavailable);
  return (
    <button
      {...rest}
      type={isOff && type === 'submit' ? 'button' : type}
      className={`button button-${look}`}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      title={unavailable || rest.title}
      onClick={isOff ? undefined : onClick}
    >
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button without text. Its label is its name, and shows on hover. */
export function IconButton({
  label,
  icon,
  unavailable,
  onClick,
  ...rest
}: Omit<ComponentProps<'button'>, 'aria-label' | 'title' | 'disabled'> &
  Pick<ButtonProps, 'unavailable'> & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      aria-disabled={unavailable ? true : undefined}
      title={unavailable || label}
      onClick={unavailable ? undefined : onClick}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}

/** A link that looks like a button, for actions that have an address. */
export function ButtonLink({
  look = 'plain',
  icon,
  href,
  onClick,
  children,
}: {
  look?: Look;
  icon?: IconName;
  href: string;
  onClick?: () => void;
  children: React.ReactNode;
}) {
  return (
    <Link href={href} onClick={onClick} className={`button button-${look}`}>
      {icon && <Icon name={icon} />}
      {children}
    </Link>
  );
}
