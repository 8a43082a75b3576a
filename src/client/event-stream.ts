import { startDeadline } from './deadline.ts';
import { ConnectionError } from './errors.ts';

/** An event of a stream, as the server sent it. */
export type ServerSentEvent = { event?: string; id?: string; data?: string };

/** The server sends a comment after 15 seconds without an event, so a longer silence means a dead connection. */
const MAX_SILENCE_MS = 60_000;

/**
 * Reads Server-Sent Events. An event that the connection cuts off is dropped.
 * Source: the HTML standard, "Server-sent events", without lone carriage returns.
 *
 * @param signal aborts the request of the response.
 * @throws ConnectionError if the connection breaks or is silent for a minute.
 */
export async function* readEvents(
  { body }: Response,
  signal: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  if (!body) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event: ServerSentEvent = {};
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, signal);
      if (done) return;
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, name, text = ''] = /^(event|id|data):? ?(.*?)\r?$/.exec(line) ?? [];
        if (name === 'data')
          event.data = event.data === undefined ? text : `${event.data}\n${text}`;
        else if (name === 'event' || name === 'id') event[name] = text;
        if (line !== '' && line !== '\r') continue;
        if (event.data !== undefined) yield event;
        event = {};
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, signal: AbortSignal) {
  const deadline = startDeadline(
    MAX_SILENCE_MS,
    () => new ConnectionError('The connection is silent.'),
    [signal],
  );
  const aborted = new Promise<never>((_resolve, reject) => {
    deadline.signal.addEventListener('abort', () => reject(deadline.signal.reason));
  });
  try {
    signal.throwIfAborted();
    return await Promise.race([reader.read(), aborted]);
  } catch (error) {
    deadline.signal.throwIfAborted();
    throw new ConnectionError('The connection broke.', error);
  } finally {
    deadline.stop();
  }
}
