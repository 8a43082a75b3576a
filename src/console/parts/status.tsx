import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';
import './status.css';
import type { Tone } from './tone.ts';

/** A state: an icon with a distinct shape, and the word for it. Only failures colour the word. */
export function Status({
  icon,
  tone,
  children,
}: {
  icon: IconName;
  tone: Tone;
  children: ReactNode;
}) {
  return (
    <span className={`status status-${tone}`}>
      <Icon name={icon} size={14} />
      <span className="status-word">{children}</span>
    </span>
  );
}
