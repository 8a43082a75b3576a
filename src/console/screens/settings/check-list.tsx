import { Icon } from '../../parts/icon.tsx';
import './check-list.css';

/** The result of one check. */
export type ShownCheck = {
  name: string;
  tone: 'good' | 'warn' | 'bad';
  /** The result in one word, which the icon shows. */
  result: 'passed' | 'warning' | 'failed';
  message: string;
  /** What to do. */
  advice: string | null;
};

const ICONS = { good: 'check', warn: 'warning', bad: 'close' } as const;

/** Checks with their results, each with what to do. */
export function CheckList({ checks }: { checks: readonly ShownCheck[] }) {
  return (
    <ul className="checks">
      {checks.map(({ name, tone, result, message, advice }) => (
        <li key={`${name} ${message}`} className={`check check-${tone}`}>
          <Icon name={ICONS[tone]} />
          <b>
            {name}
            <span className="unseen"> {result}</span>
          </b>
          <p>{message}</p>
          {advice && <p className="check-advice">{advice}</p>}
        </li>
      ))}
    </ul>
  );
}
