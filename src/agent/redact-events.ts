import type { RedactingStream } from '../deployments/redact.ts';
import type { ModelEvent } from '../model/model.ts';

/** What the model says, without the values of the deployment's variables. */
export async function* redactEvents(
  events: AsyncIterable<ModelEvent>,
  stream: RedactingStream,
): AsyncGenerator<ModelEvent, void> {
  const say = (text: string): ModelEvent[] => (text ? [{ type: 'text-delta', text }] : []);
  try {
    for await (const event of events) {
      if (event.type === 'text-delta') yield* say(stream.push(event.text));
      else yield* [...say(stream.end()), event];
    }
    yield* say(stream.end());
  } catch (error) {
    yield* say(stream.end());
    throw error;
  }
}
