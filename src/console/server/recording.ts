import { serverNow } from './clock.ts';
import { createStore, type Store } from './store.ts';

export type Header = [name: string, value: string];

/** A part of a body: a frame of an event stream, which ends at its empty line, or the whole of any other body. */
export type Part = {
  /** Milliseconds from the request until the part was complete. */
  ms: number;
  text: string;
};

/** A request and its response, as the browser sent and received them. API keys are masked. */
export type Exchange = {
  method: string;
  url: string;
  headers: Header[];
  body: string;
  /** Milliseconds since the epoch, by the server's clock. */
  sentAt: number;
  response?: { status: number; headers: Header[]; ms: number };
  parts: Part[];
  /** Bytes of the response's body so far. */
  bytes: number;
  /** When the exchange ended, and whether by a lost connection. */
  end?: { ms: number; isCut: boolean };
};

/** The requests and responses of one reply, in order: several if its stream was cut. */
export type Recording = {
  readonly exchanges: readonly Exchange[];
  /** Counts the changes, at most one for each frame of the screen. */
  readonly changes: Store<number>;
  /** Sends a request, and records it with its response. */
  fetch: typeof fetch;
};

/** Bytes of a body whose parts are kept. */
export const MAX_KEPT_BYTES = 4 * 1024 * 1024;

export function createRecording(): Recording {
  const exchanges: Exchange[] = [];
  const changes = createStore(0);
  let isScheduled = false;
  const changed = () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      changes.set(changes.get() + 1);
    });
  };

  return {
    exchanges,
    changes,
    async fetch(input, init) {
      const started = performance.now();
      const exchange: Exchange = {
        method: init?.method ?? 'GET',
        url: new URL(String(input), location.href).href,
        headers: [...new Headers(init?.headers)].map(readable),
        body: typeof init?.body === 'string' ? init.body : '',
        sentAt: serverNow(),
        parts: [],
        bytes: 0,
      };
      exchanges.push(exchange);
      changed();
      const elapsed = () => performance.now() - started;
      const end = (isCut: boolean) => {
        exchange.end ??= { ms: elapsed(), isCut };
        changed();
      };
      const fail = () => end(!init?.signal?.aborted);
      init?.signal?.addEventListener('abort', fail, { once: true });
      const response = await fetch(input, init).catch((error: unknown) => {
        fail();
        throw error;
      });
      const { status, statusText, headers } = response;
      exchange.response = { status, headers: [...headers], ms: elapsed() };
      changed();
      const reader = createPartReader(headers, (text) => {
        exchange.parts.push({ ms: elapsed(), text });
      });
      const body = observed(response.body, {
        chunk(bytes) {
          exchange.bytes += bytes.length;
          if (exchange.bytes <= MAX_KEPT_BYTES) reader.add(bytes);
          changed();
        },
        close() {
          reader.end();
          end(false);
        },
        fail,
      });
      return new Response(body, { status, statusText, headers });
    },
  };
}

/** A header as people read it: its bytes as UTF-8, and without the secret of an API key. */
function readable([name, value]: Header): Header {
  const bytes = Uint8Array.from(value, (character) => character.charCodeAt(0));
  return [name, new TextDecoder().decode(bytes).replace(/(parley_sk_\w{4})\w+/, '$1…')];
}

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;
type Observer = { chunk(bytes: Uint8Array): void; close(): void; fail(): void };

/** Passes a body on, and reports its chunks and its end. */
function observed(body: Body | null, { chunk, close, fail }: Observer): Body | null {
  if (!body) {
    close();
    return null;
  }
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          close();
          return controller.close();
        }
        chunk(value);
        controller.enqueue(value);
      } catch (error) {
        fail();
        controller.error(error);
      }
      return undefined;
    },
    // The reader has what it needs.
    cancel(reason) {
      close();
      return reader.cancel(reason);
    },
  });
}

/** Splits the bytes of a body into its parts. */
function createPartReader(headers: Headers, found: (text: string) => void) {
  const isStream = headers.get('content-type')?.startsWith('text/event-stream');
  const decoder = new TextDecoder();
  let rest = '';
  return {
    add(bytes: Uint8Array) {
      rest += decoder.decode(bytes, { stream: true });
      if (!isStream) return;
      const frames = rest.split(/(?<=\n\n)/);
      rest = frames.at(-1)?.endsWith('\n\n') ? '' : (frames.pop() ?? '');
      for (const frame of frames) found(frame);
    },
    end() {
      rest += decoder.decode();
      if (rest !== '') found(rest);
    },
  };
}
