import { Badge } from '../../../parts/badge.tsx';
import { Button } from '../../../parts/button.tsx';
import { useCopy } from '../../../parts/copy.tsx';
import { duration } from '../../../parts/time.tsx';
import { type Exchange, MAX_KEPT_BYTES } from '../../../server/recording.ts';
import { BodyText } from './body-text.tsx';
import { Frames } from './frames.tsx';
import { HeaderList } from './header-list.tsx';

/** A response as it arrived: its status, its headers, and the frames of its stream with their times. */
export function ResponseTab({ exchange }: { exchange: Exchange }) {
  const { response, parts, bytes, end } = exchange;
  if (!response)
    return (
      <p className="inspector-hint">{end ? 'No response arrived.' : 'Waiting for the response.'}</p>
    );
  const { status, headers, ms } = response;
  const isStream = headers.some(
    ([name, value]) => name === 'content-type' && value.startsWith('text/event-stream'),
  );
  return (
    <div className="inspector-body response">
      <p className="response-line number">
        <Badge tone={status < 400 ? 'good' : 'bad'}>
          <strong>{status}</strong> after {duration(ms)}
        </Badge>
        <span className="faint">{endOf(exchange)}</span>
      </p>
      <details open={!isStream || parts.length === 0}>
        <summary>{headers.length} headers</summary>
        <HeaderList headers={headers} />
      </details>
      {isStream ? (
        <>
          <div className="frames-head">
            <span>{parts.length.toLocaleString('en')} frames</span>
            <CopyAll text={() => parts.map(({ text }) => text).join('')} />
          </div>
          <Frames parts={parts} isOpen={!end} />
        </>
      ) : (
        parts.map(({ text }) => <BodyText key="body" label="Response body" text={text} />)
      )}
      {bytes > MAX_KEPT_BYTES && (
        <p className="faint">Only the first 4 MiB of the body are kept.</p>
      )}
    </div>
  );
}

function endOf({ end, bytes }: Exchange): string {
  const size =
    bytes < 10_000
      ? `${bytes.toLocaleString('en')} B`
      : `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;
  if (!end) return `${size} so far`;
  return end.isCut ? `cut after ${duration(end.ms)} · ${size}` : `${duration(end.ms)} · ${size}`;
}

function CopyAll({ text }: { text(): string }) {
  const [isCopied, copy] = useCopy(text);
  return (
    <Button look="quiet" icon={isCopied ? 'check' : 'copy'} onClick={copy}>
      {isCopied ? 'Copied' : 'Copy all'}
    </Button>
  );
}
