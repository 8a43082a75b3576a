import type { Pages } from '../server/use-pages.ts';
import { Button } from './button.tsx';
import './more.css';
import { Refused } from './state.tsx';

/** The end of a list: a button for the next page, or why it could not be read. Nothing if the list has no more. */
export function More({
  pages: { problem, hasMore, isReading, readMore },
}: {
  pages: Pick<Pages<unknown>, 'problem' | 'hasMore' | 'isReading' | 'readMore'>;
}) {
  if (!problem && !hasMore) return null;
  return (
    <div className="more">
      <Refused problem={problem} />
      <Button isBusy={isReading} onClick={readMore}>
        {problem ? 'Try again' : 'Show more'}
      </Button>
    </div>
  );
}
