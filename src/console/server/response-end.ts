/**
 * Makes the end of each response body an error, and reads a body no faster than its reader.
 *
 * `graphql-sse` waits forever if a response ends without the event `complete` while it still handles an event. After
 * `complete` it reads no more, so the error does no harm. It also keeps all events that its caller has not asked for.
 *
 * @param untilRead waits until the reader asks for more.
 */
export function withResponseEnd(
  request: typeof fetch,
  untilRead: () => Promise<void> = async () => {},
): typeof fetch {
  return async (input, init) => {
    const response = await request(input, init);
    if (!response.ok || !response.body) return response;
    const checked = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
      async transform(chunk, controller) {
        await untilRead();
        controller.enqueue(chunk);
      },
      flush() {
        throw new TypeError('The response ended.');
      },
    });
    return new Response(response.body.pipeThrough(checked), response);
  };
}
