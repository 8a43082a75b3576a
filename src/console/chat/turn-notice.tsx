import { Icon } from '../parts/icon.tsx';

/** Characters of a notice that show. The page of its run has all of it. */
const MAX_NOTICE = 600;

/** The notice of the server to the model that began a turn. */
export function TurnNotice({ notice }: { notice: string }) {
  return (
    <p className="turn-notice" dir="auto">
      <Icon name="shield" size={14} />
      <span>{notice.length > MAX_NOTICE ? `${notice.slice(0, MAX_NOTICE)}…` : notice}</span>
    </p>
  );
}
