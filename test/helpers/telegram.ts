import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { decodeHTML } from 'entities';

/** A call to the Bot API. */
export type TelegramCall = {
  token: string;
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test knows the parameters of its own calls
  body: any;
};

/** The answer that replaces the server's own answer. */
export type Refusal = { code: number; description?: string; retryAfter?: number };

/** A message in a chat, as its user sees it. */
export type SentMessage = {
  id: number;
  html: string;
  text: string;
  keyboard: string[];
  /** The buttons below the message, with what a press sends. */
  buttons: { text: string; data: string }[];
};

/** A bot of the fake server. */
export type FakeBot = {
  id: number;
  name: string;
  token: string;
  /** The webhook, if one is set. */
  webhook(): { url: string; secret: string } | undefined;
  /** Makes an update with the next id, of a message by a user. */
  update(message: object, user?: number): { update_id: number; message: object };
  /** A text from a user in the private chat with the bot. */
  text(text: string, user?: number): { update_id: number; message: object };
  /** A press of a button below a message in a chat. @param data by default, the data of the message's button. */
  press(chatId: number, button: string, data?: string): { update_id: number };
  /** Sends an update to the webhook at a server. */
  deliver(url: string, update: object, headers?: Record<string, string>): Promise<Response>;
  /** Sends updates to the client that polls. */
  queue(...updates: object[]): void;
  /** The messages in a chat, oldest first. */
  chat(chatId: number): SentMessage[];
  /** The methods of the calls so far. */
  calls(method?: string): TelegramCall[];
  /** The number of polls that wait for updates. */
  polls(): number;
  /** Makes the token invalid. */
  revoke(): void;
};

/** A fake Bot API server on loopback. */
export type FakeTelegram = {
  apiRoot: string;
  bot(): FakeBot;
  /** Decides about all later calls: a refusal, a promise to wait for, or nothing. */
  script(script: (call: TelegramCall) => Refusal | Promise<unknown> | undefined): void;
  close(): Promise<void>;
};

let nextBot = 1_000_000 + (process.pid % 10_000) * 100_000;

export async function startTelegram(): Promise<FakeTelegram> {
  const bots = new Map<
    string,
    { bot: FakeBot; answer(call: TelegramCall, response: ServerResponse): unknown }
  >();
  let script: Parameters<FakeTelegram['script']>[0] = () => undefined;

  const server = createServer(async (incoming, response) => {
    const [, token = '', method = ''] = /^\/bot([^/]+)\/(\w+)$/.exec(incoming.url ?? '') ?? [];
    const call = { token, method, body: await json(incoming).catch(() => ({})) };
    const found = bots.get(token);
    if (!found) return refuse(response, { code: 401, description: 'Unauthorized' });
    found.bot.calls().push(call);
    const scripted = script(call);
    if (scripted instanceof Promise) await scripted;
    else if (scripted) return refuse(response, scripted);
    found.answer(call, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  return {
    apiRoot: `http://127.0.0.1:${port}`,
    script: (next) => {
      script = next;
    },
    bot() {
      const made = makeBot((token) => bots.delete(token));
      bots.set(made.bot.token, made);
      return made.bot;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function makeBot(onRevoke: (token: string) => void) {
  nextBot += 1;
  const id = nextBot;
  const token = `${id}:${'secret-of-bot-'.padEnd(35, String(id))}`;
  const name = `Test${id}Bot`;
  const calls: TelegramCall[] = [];
  const chats = new Map<number, SentMessage[]>();
  let webhook: { url: string; secret: string } | undefined;
  let pending: { update_id?: number }[] = [];
  let poll: { response: ServerResponse; offset: number } | undefined;
  let nextUpdate = 1;
  let nextMessage = 1;

  const messagesOf = (chatId: number) => {
    const messages = chats.get(chatId) ?? [];
    chats.set(chatId, messages);
    return messages;
  };

  const offer = () => {
    if (!poll) return;
    const { response, offset } = poll;
    pending = pending.filter(({ update_id = 0 }) => update_id >= offset);
    if (pending.length === 0) return;
    poll = undefined;
    succeed(response, pending);
  };

  const answers: Record<string, (body: TelegramCall['body'], response: ServerResponse) => unknown> =
    {
      getMe: (_body, response) =>
        succeed(response, { id, is_bot: true, first_name: 'Test', username: name }),
      setWebhook: ({ url, secret_token: secret }, response) => {
        webhook = { url, secret };
        succeed(response, true);
      },
      deleteWebhook: (_body, response) => {
        webhook = undefined;
        succeed(response, true);
      },
      getUpdates: ({ offset = 0 }, response) => {
        if (webhook)
          return refuse(response, { code: 409, description: 'Conflict: webhook is active' });
        if (poll)
          refuse(poll.response, { code: 409, description: 'Conflict: other getUpdates request' });
        const mine = { response, offset };
        poll = mine;
        response.once('close', () => {
          if (poll === mine) poll = undefined;
        });
        offer();
      },
      sendMessage: (body, response) => {
        const problem = problemOf(body);
        if (problem) return refuse(response, { code: 400, description: `Bad Request: ${problem}` });
        const message = { id: nextMessage, ...contentOf(body) };
        nextMessage += 1;
        messagesOf(body.chat_id).push(message);
        succeed(response, { message_id: message.id, date: 0, chat: { id: body.chat_id } });
      },
      editMessageText: (body, response) => {
        const problem = problemOf(body);
        const message = messagesOf(body.chat_id).find((one) => one.id === body.message_id);
        const description = !message
          ? 'Bad Request: message to edit not found'
          : message.html === body.text
            ? 'Bad Request: message is not modified'
            : problem && `Bad Request: ${problem}`;
        if (description || !message) return refuse(response, { code: 400, description });
        Object.assign(message, contentOf(body));
        succeed(response, true);
      },
      deleteMessage: ({ chat_id, message_id }, response) => {
        const rest = messagesOf(chat_id).filter((one) => one.id !== message_id);
        chats.set(chat_id, rest);
        succeed(response, true);
      },
      answerCallbackQuery: (_body, response) => succeed(response, true),
      sendChatAction: (_body, response) => succeed(response, true),
    };

  const update = (message: object, user = 42) => {
    const update_id = nextUpdate;
    nextUpdate += 1;
    nextMessage += 1;
    const from = { id: user, is_bot: false, first_name: 'Ada' };
    const chat = { id: user, type: 'private', first_name: 'Ada' };
    return { update_id, message: { message_id: nextMessage, date: 0, from, chat, ...message } };
  };

  const bot: FakeBot = {
    id,
    name,
    token,
    webhook: () => webhook,
    update,
    text: (text, user) => update({ text }, user),
    press(chatId, button, given) {
      const message = messagesOf(chatId).findLast(({ buttons }) => buttons.length > 0);
      const data = given ?? message?.buttons.find(({ text }) => text === button)?.data;
      const { update_id } = update({});
      const from = { id: 7, is_bot: false, first_name: 'Op' };
      const shown = {
        message_id: message?.id ?? 0,
        date: 0,
        chat: { id: chatId, type: 'private' },
      };
      return {
        update_id,
        callback_query: { id: `press-${update_id}`, from, message: shown, data },
      };
    },
    deliver(url, body, headers) {
      if (!webhook) throw new Error('No webhook is set.');
      return fetch(url + new URL(webhook.url).pathname, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-telegram-bot-api-secret-token': webhook.secret,
          ...headers,
        },
        body: JSON.stringify(body),
      });
    },
    queue(...updates) {
      pending.push(...updates);
      offer();
    },
    chat: (chatId) => messagesOf(chatId),
    calls: (method) => (method ? calls.filter((call) => call.method === method) : calls),
    polls: () => (poll ? 1 : 0),
    revoke: () => onRevoke(token),
  };
  return {
    bot,
    answer: ({ method, body }: TelegramCall, response: ServerResponse) =>
      answers[method]?.(body, response) ??
      (method in answers || refuse(response, { code: 404, description: 'Not Found' })),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the body of a call
function contentOf({ text, parse_mode, reply_markup }: any) {
  const keyboard: { text: string }[][] = reply_markup?.keyboard ?? [];
  const inline: { text: string; callback_data: string }[][] = reply_markup?.inline_keyboard ?? [];
  return {
    html: text,
    text: parse_mode === 'HTML' ? decodeHTML(text.replaceAll(/<[^>]*>/g, '')) : text,
    keyboard: keyboard.flat().map((button) => button.text),
    buttons: inline
      .flat()
      .map(({ text: label, callback_data }) => ({ text: label, data: callback_data })),
  };
}

/** What Telegram would not accept in a text. */
function problemOf(body: { text: string; parse_mode?: string }): string | undefined {
  const { text } = contentOf(body);
  if (text.trim() === '') return 'message text is empty';
  if (text.length > 4_096) return 'message is too long';
  if (body.parse_mode !== 'HTML') return undefined;
  const open: string[] = [];
  for (const [, slash, name = ''] of body.text.matchAll(/<(\/?)([a-z]*)[^>]*>/g)) {
    if (!['b', 'i', 's', 'a', 'code', 'pre', 'blockquote'].includes(name))
      return `can't parse entities: unsupported start tag "${name}"`;
    if (slash && open.pop() !== name) return `can't parse entities: unexpected end tag "${name}"`;
    if (!slash) open.push(name);
  }
  return open.length > 0 ? "can't parse entities: can't find end tag" : undefined;
}

function succeed(response: ServerResponse, result: unknown): void {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ok: true, result }));
}

function refuse(
  response: ServerResponse,
  { code, description = 'Error', retryAfter }: Refusal,
): void {
  response.writeHead(code, { 'content-type': 'application/json' });
  const parameters = retryAfter === undefined ? undefined : { retry_after: retryAfter };
  response.end(JSON.stringify({ ok: false, error_code: code, description, parameters }));
}
