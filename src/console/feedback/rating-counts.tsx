import { Icon } from '../parts/icon.tsx';
import './feedback.css';
import type { Given } from './use-rating.ts';

/** How many authors rate a run as good, and as bad. */
export function RatingCounts({ feedback }: { feedback: readonly Pick<Given, 'rating'>[] }) {
  const up = feedback.filter(({ rating }) => rating === 'UP').length;
  const down = feedback.length - up;
  return (
    <span className="rating-counts number">
      {up > 0 && (
        <span className="rating-up">
          <Icon name="thumb-up" size={13} /> {up}
          <span className="unseen"> good</span>
        </span>
      )}
      {down > 0 && (
        <span className="rating-down">
          <Icon name="thumb-down" size={13} /> {down}
          <span className="unseen"> bad</span>
        </span>
      )}
    </span>
  );
}
