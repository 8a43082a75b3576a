import type { Deadline } from './deadline.ts';
import { ConnectionError } from './errors.ts';

/** An event of a stream, as the server sent it. */
export type ServerSentEvent = { event?: string; id?: string; data?: string };

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
