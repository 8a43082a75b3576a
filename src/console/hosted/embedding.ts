/** A message to the widget, which contains this page in an iframe. */
type ToWidget =
  /** The page shows. The widget takes its accent. */
  | { type: 'ready'; accent: string | undefined }
  | { type: 'close' }
  | { type: 'token' }
  /** Keeps a text for this page, whose own storage the browser blocks. */
  | { type: 'keep'; text: string }
  | { type: 'message'; role: 'user' | 'assistant'; text: string; runId: string };

/** How the widget contains this page. Without a widget, messages go nowhere. */
export type Embedding = {
  isEmbedded: boolean;
  theme: 'light' | 'dark' | undefined;
  /** Whether the page around the widget gives the token of a known user. */
  hasTokens: boolean;
  /** The values that the widget stores for this page. */
  kept: string | undefined;
  send(message: ToWidget): void;
  /** Asks the page around the widget for a token. @throws Error if it gives none within 30 seconds. */
  requestToken(): Promise<string>;
};

const TOKEN_LIMIT_MS = 30_000;

/** The widget writes its options into the fragment of this page's address. */
const options = new URLSearchParams(location.hash.slice(1));
const theme = options.get('theme');
const isEmbedded = window.parent !== window && options.has('origin');
const origin = options.get('origin') ?? '';

/** The browser delivers a message only if the window around this one has the origin. */
function send(message: ToWidget): void {
  if (isEmbedded) window.parent.postMessage({ parley: message }, origin);
}

export const embedding: Embedding = {
  isEmbedded,
  theme: theme === 'light' || theme === 'dark' ? theme : undefined,
  hasTokens: isEmbedded && options.has('tokens'),
  // Without a widget, anybody may have written the address.
  kept: (isEmbedded && options.get('kept')) || undefined,
  send,

  requestToken: () =>
    new Promise((resolve, reject) => {
      const limit = AbortSignal.timeout(TOKEN_LIMIT_MS);
      const answered = new AbortController();
      const refuse = () => {
        answered.abort();
        reject(new Error('This page could not sign you in.'));
      };
      limit.addEventListener('abort', refuse, { signal: answered.signal });
      addEventListener(
        'message',
        ({ source, origin: from, data }: MessageEvent) => {
          if (source !== window.parent || from !== origin || !data?.parley) return;
          const { type, token } = data.parley;
          if (type !== 'token') return;
          if (typeof token !== 'string') return refuse();
          answered.abort();
          resolve(token);
        },
        { signal: answered.signal },
      );
      send({ type: 'token' });
    }),
};
