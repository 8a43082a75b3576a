import { type Deadline, startDeadline } from './deadline.ts';
import { ConnectionError } from './errors.ts';

/** An event of a stream, as the server sent it. */
export type ServerSentEvent = { event?: string; id?: string; data?: string };

/** The response to a request for events, and its events. */
export type EventSource = { response: Response; events: AsyncGenerator<ServerSentEvent> };

/** The server sends a comment after 15 seconds without an event, so a longer silence means a dead connection. */
const MAX_SILENCE_MS = 60_000;

/**
 * Sends a request once and reads its events.
 *
 * @param send resolves with a successful response. Its signal is aborted with `signal`, and after a long silence.
 * @returns `undefined` if the server has no more events.
 */
export async function openEventStream(
  send: (signal: AbortSignal) => Promise<Response>,
  signal: AbortSignal,
): Promise<EventSource | undefined> {
  const reason = () => new ConnectionError('The connection stalled.');
  const silence = startDeadline(MAX_SILENCE_MS, [signal], reason);
  try {
    const response = await send(silence.signal);
    silence.pause();
    if (response.status !== 204) return { response, events: readEvents(response, silence) };
    silence.stop();
    return undefined;
  } catch (error) {
    silence.stop();
    throw error;
  }
}

/**
 * Reads Server-Sent Events. An event that the connection cuts off is dropped.
 * Source: the HTML standard, "Server-sent events", without lone carriage returns.
 *
 * @param silence the deadline of the request. It runs while the client waits for bytes.
 * @throws ConnectionError if the connection breaks, or the reason of the deadline's signal.
 */
export async function* readEvents(
  { body }: Response,
  silence: Deadline,
): AsyncGenerator<ServerSentEvent> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let event: ServerSentEvent = {};
  try {
    for (;;) {
      silence.restart();
      const chunk = await reader?.read();
      silence.pause();
      if (!chunk || chunk.done) return;
      const text = decoder.decode(chunk.value, { stream: true });
      rest += text;
      // A long line may arrive in many chunks: it is read once, at its end.
      if (!text.includes('\n')) continue;
      const lines = rest.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const [, name, text = ''] = /^(event|id|data): ?(.*?)\r?$/s.exec(line) ?? [];
        if (name === 'event' || name === 'id') event[name] = text;
        else if (name === 'data') event.data = event.data ? `${event.data}\n${text}` : text;
        else if (line.length < 2) {
          if (event.data) yield event;
          event = {};
        }
      }
    }
  } catch (error) {
    silence.signal.throwIfAborted();
    throw new ConnectionError('The connection broke.', error);
  } finally {
    silence.stop();
    reader?.cancel().catch(() => {});
  }
}
