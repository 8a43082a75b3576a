import { ClockTime } from '../../../parts/time.tsx';
import type { Exchange } from '../../../server/recording.ts';
import { BodyText } from './body-text.tsx';
import { HeaderList } from './header-list.tsx';

/** A request as it was sent. */
export function RequestTab({ exchange }: { exchange: Exchange }) {
  const { method, url, headers, body, sentAt } = exchange;
  const { pathname, search } = new URL(url);
  const isOwn = headers.some(([name]) => name === 'x-parley-console');
  return (
    <div className="inspector-body">
      <p className="request-line mono">
        <strong>{method}</strong> {pathname}
        {search}
      </p>
      <p className="faint">
        Sent at{' '}
        <span className="number">
          <ClockTime at={new Date(sentAt).toISOString()} />
        </span>
        {isOwn && '. The browser adds the cookie of your session.'}
      </p>
      <HeaderList headers={headers} />
      {body && <BodyText label="Request body" text={body} />}
    </div>
  );
}
