import { Icon } from '../../../parts/icon.tsx';
import { nameOf, type SideChat } from './use-side-chat.ts';

/** Tools that a sentence names. */
const MOST = 3;

/** Says which tools a message to both sides may call for real. */
export function EffectNote({ both, hasTools }: { both: SideChat[]; hasTools: boolean }) {
  const acting = both.filter(({ effects }) => effects.length > 0);
  if (!hasTools || acting.length === 0) return null;
  const names = [...new Set(acting.flatMap(({ effects }) => effects))];
  const shown = names.slice(0, MOST).join(', ');
  const more = names.length > MOST ? ` and ${names.length - MOST} more` : '';
  return (
    <p className="compare-effects">
      <Icon name="warning" size={14} />
      <span>
        {acting.length === 2
          ? 'Both sides call tools for real, so an action can happen twice: '
          : `${acting.map(({ side }) => nameOf(side)).join()} calls tools for real: `}
        <span className="mono">{shown}</span>
        {more}. The options send a message without tools.
      </span>
    </p>
  );
}
