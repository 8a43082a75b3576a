import { IconButton } from '../parts/button.tsx';
import './feedback.css';
import type { Rating } from './use-rating.ts';

/** Two buttons that rate a reply. The pressed button removes its rating. */
export function Thumbs({ own, give }: Pick<Rating, 'own' | 'give'>) {
  const toggle = (rating: 'UP' | 'DOWN') =>
    void give(own?.rating === rating ? undefined : { rating, note: own?.note ?? null });
  return (
    <span className="thumbs">
      <IconButton
        label="Good reply"
        icon="thumb-up"
        aria-pressed={own?.rating === 'UP'}
        onClick={() => toggle('UP')}
      />
      <IconButton
        label="Bad reply"
        icon="thumb-down"
        aria-pressed={own?.rating === 'DOWN'}
        onClick={() => toggle('DOWN')}
      />
    </span>
  );
}
