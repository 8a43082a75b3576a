import { accentTokens, isColor } from '../../language/accent.ts';
import { STYLES } from './styles.ts';

/** A message of the conversation, for the page around the widget. */
type ChatMessage = { role: 'user' | 'assistant'; text: string; runId: string };
type Listener = (message: ChatMessage) => void;

/** The widget's interface for the page: `window.parley`. */
type Parley = {
  open(): void;
  close(): void;
  /** @returns a function that removes the listener. */
  on(event: 'message', listener: Listener): () => void;
};

declare global {
  interface Window {
    parley?: Parley;
  }
}

/** Time limit for the chat page to report that it is ready after its frame has loaded. */
const READY_LIMIT_MS = 3_000;

const UNAVAILABLE = 'The chat is not available here.';

/** For the person who adds the widget to a page. Its visitors read a plain sentence. */
const unavailableReason = (bot: string) =>
  `Parley: the chat of the bot "${bot}" does not open in this page. Does the bot exist, and does "Pages that may contain the chat" in the console list ${location.origin}?`;

const script = document.currentScript;
if (script instanceof HTMLScriptElement && !window.parley) window.parley = createWidget(script);

/** Adds a button that opens the chat page in a frame. The options are data attributes of the script's element. */
function createWidget({ src, dataset }: HTMLScriptElement): Parley {
  const { bot = '', label = 'Chat', position, theme, tokenUrl, accent } = dataset;
  const page = new URL(`chat/${encodeURIComponent(bot)}`, src);
  const fragment = new URLSearchParams({ origin: location.origin });
  if (theme) fragment.set('theme', theme);
  if (tokenUrl !== undefined) fragment.set('tokens', '1');

  /** The values of the chat page if the browser blocks the storage of its frame. */
  const name = `parley:chat:${bot}`;
  const listeners = new Set<Listener>();
  let isReady = false;
  let readyTimer: ReturnType<typeof setTimeout> | undefined;

  // The shadow root keeps the styles of the page away. Constructed style sheets need no exception of its policy.
  const host = document.createElement('parley-chat');
  const root = host.attachShadow({ mode: 'open' });
  const styles = new CSSStyleSheet();
  styles.replaceSync(STYLES);
  root.adoptedStyleSheets = [styles];
  if (position === 'left') host.dataset.position = position;
  if (theme) host.dataset.theme = theme;

  const paint = (color: unknown) => {
    if (typeof color !== 'string' || !isColor(color)) return;
    for (const [name, value] of Object.entries(accentTokens(color)))
      host.style.setProperty(name, value);
  };
  paint(accent);

  const button = element('button', { type: 'button', className: 'button', textContent: label });
  button.setAttribute('aria-expanded', 'false');
  const panel = element('div', { className: 'panel', hidden: true });
  panel.setAttribute('role', 'dialog');
  panel.setAttribute('aria-label', label);
  const notice = element('p', { className: 'notice' });
  notice.setAttribute('role', 'status');
  const leave = element('button', { type: 'button', className: 'leave', textContent: 'Close' });
  const frame = element('iframe', { title: label, allow: 'clipboard-write' });
  frame.setAttribute('referrerpolicy', 'no-referrer');
  panel.append(frame, notice, leave);
  root.append(panel, button);

  const show = (state: 'loading' | 'ready' | 'unavailable') => {
    panel.dataset.state = state;
    notice.textContent = { loading: 'Loading…', ready: '', unavailable: UNAVAILABLE }[state];
  };
  const load = () => {
    show('loading');
    clearTimeout(readyTimer);
    const kept = storage()?.getItem(name);
    if (kept) fragment.set('kept', kept);
    page.hash = String(fragment);
    frame.src = page.href;
  };
  const isOpen = () => !panel.hidden;
  const open = () => {
    if (isOpen()) return;
    panel.hidden = false;
    button.setAttribute('aria-expanded', 'true');
    host.dataset.open = '';
    if (!isReady) load();
    (isReady ? frame : leave).focus();
  };
  const close = () => {
    if (!isOpen()) return;
    panel.hidden = true;
    button.setAttribute('aria-expanded', 'false');
    delete host.dataset.open;
    button.focus();
  };

  // A frame loads even if the page is missing or may not be framed here. Only the chat page reports that it is ready.
  frame.addEventListener('load', () => {
    // The empty frame loads too, when it is added to the page.
    if (!frame.src) return;
    clearTimeout(readyTimer);
    readyTimer = setTimeout(() => {
      if (isReady) return;
      show('unavailable');
      console.warn(unavailableReason(bot));
    }, READY_LIMIT_MS);
  });
  button.addEventListener('click', () => (isOpen() ? close() : open()));
  leave.addEventListener('click', close);
  root.addEventListener('keydown', (event) => {
    if ((event as KeyboardEvent).key === 'Escape') close();
  });

  const answerToken = async () => {
    const token = await fetch(tokenUrl ?? '', { credentials: 'same-origin' })
      .then((response) => (response.ok ? response.json() : undefined))
      .then((answer) => answer?.token)
      .catch(() => undefined);
    frame.contentWindow?.postMessage({ parley: { type: 'token', token } }, page.origin);
  };

  addEventListener('message', ({ source, origin, data }: MessageEvent) => {
    if (source !== frame.contentWindow || origin !== page.origin || !data?.parley) return;
    const { type, ...message } = data.parley;
    if (type === 'ready') {
      isReady = true;
      show('ready');
      paint(message.accent);
      if (root.activeElement === leave) frame.focus();
    } else if (type === 'close') close();
    else if (type === 'keep') storage()?.setItem(name, String(message.text));
    else if (type === 'token' && tokenUrl !== undefined) void answerToken();
    else if (type === 'message') for (const listener of listeners) listener(message);
  });

  const add = () => {
    document.body.append(host);
    // In the browser's top layer, which the styles of the elements around it do not reach.
    if ('showPopover' in host) {
      host.popover = 'manual';
      host.showPopover();
    }
  };
  if (document.body) add();
  else addEventListener('DOMContentLoaded', add, { once: true });

  return {
    open,
    close,
    on(event, listener) {
      if (event !== 'message') throw new TypeError(`parley has no event "${event}".`);
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** The storage of the page around the widget, unless the browser blocks it. */
function storage(): Storage | undefined {
  try {
    return localStorage;
  } catch {
    return undefined;
  }
}

function element<Name extends 'button' | 'div' | 'p' | 'iframe'>(
  name: Name,
  properties: Partial<HTMLElementTagNameMap[Name]>,
): HTMLElementTagNameMap[Name] {
  return Object.assign(document.createElement(name), properties);
}
