/** The surface of `@parley/client/ai-sdk`: the transport of the AI SDK's chat interfaces, such as `useChat`. */
import type { ChatTransport, UIMessage, UIMessageChunk } from 'ai';
import type { Environment, JsonObject } from './chats.ts';
import { startDeadline } from './deadline.ts';
import { ConnectionError, ParleyError } from './errors.ts';
import { type EventSource, openEventStream } from './event-stream.ts';
import { type Result, readResults } from './graphql-events.ts';
import { newIdempotencyKey } from './run-source.ts';
import { readStream } from './stream-reader.ts';
import { createChunks, UI_EVENTS, type UIEvent } from './ui-chunks.ts';

export type { ParleyMetadata } from './ui-chunks.ts';

export type ParleyChatTransportOptions = {
  /** The address of the server. Defaults to `http://127.0.0.1:4000`. */
  baseUrl?: string | undefined;
  /** ID of the bot. */
  bot: string;
  /** A session token, or on a server an API key. A function is called before each request, so that it can renew the token. */
  token: string | (() => string | Promise<string>);
  /** Session ID of the conversation. Defaults to the session of the token. Required with an API key. */
  sessionId?: string | undefined;
  /** Defaults to the environment of the token, or to production. */
  environment?: Environment | undefined;
  /** JSON object that is passed to the model with each message. A session token must allow it. */
  context?: JsonObject | undefined;
  /** The function that sends requests. Defaults to the global `fetch`. */
  fetch?: typeof fetch | undefined;
};

/** How often a stream reconnects without progress, and how long it waits before. */
const MAX_RETRIES = 3;
const WAIT_MS = 500;
/** The longest time to find and cancel a run. */
const CANCEL_LIMIT_MS = 30_000;

const START = `subscription($botId:ID!$input:ChatInput!){event:chat(botId:$botId,input:$input)${UI_EVENTS}}`;
const FOLLOW = `subscription($runId:ID!$after:Int){event:runEvents(runId:$runId,after:$after)${UI_EVENTS}}`;
const CANCEL = 'mutation($id:ID!){cancelRun(id:$id){id}}';

/** The operation that streams a reply: of a new run, or of a run that exists. */
type Start = { runId?: string | undefined; input?: object };

type Chunks = ReadableStream<UIMessageChunk>;
type Transport<Message extends UIMessage> = ChatTransport<Message>;

/**
 * Connects the AI SDK to a bot: `useChat({ transport: new ParleyChatTransport({ … }) })`. The server has the history, so only
 * the last message of the user is sent.
 */
export class ParleyChatTransport<Message extends UIMessage = UIMessage>
  implements ChatTransport<Message>
{
  /** `reconnectToStream` returns the reply from its beginning. */
  readonly resumeStreamIsReplay = true;
  readonly #options: ParleyChatTransportOptions;
  /** The environment as GraphQL names it. */
  readonly #environment: string | undefined;

  constructor(options: ParleyChatTransportOptions) {
    this.#options = options;
    this.#environment = options.environment?.toUpperCase();
  }

  /** Sends the last message of the user, and streams the reply. An abort cancels the run; a page that closes does not. */
  async sendMessages({
    messages,
    abortSignal,
  }: Parameters<Transport<Message>['sendMessages']>[0]): Promise<Chunks> {
    const { sessionId, context } = this.#options;
    const parts = messages.findLast(({ role }) => role === 'user')?.parts ?? [];
    const input = {
      message: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
      sessionId,
      context,
      environment: this.#environment,
      idempotencyKey: newIdempotencyKey(),
    };
    return this.#stream({ input }, abortSignal);
  }

  /** Streams the running reply of the conversation from its first event. @returns null if none is running. */
  async reconnectToStream({
    abortSignal,
  }: Parameters<Transport<Message>['reconnectToStream']>[0]): Promise<Chunks | null> {
    const session = await this.#session<Pick<Session, 'activeRun'>>('activeRun{id}', abortSignal);
    const runId = session?.activeRun?.id;
    return runId ? this.#stream({ runId }, abortSignal) : null;
  }

  /**
   * Loads the latest 100 messages of the conversation, for the `messages` of `useChat`, and the message that a running reply
   * answers.
   */
  async loadMessages(): Promise<Message[]> {
    const session = await this.#session<Session>(
      'messages(last:100){edges{node{id role text}}}activeRun{id input}',
    );
    const stored = session?.messages.edges.map(({ node }) => node) ?? [];
    const run = session?.activeRun;
    if (run) stored.push({ id: `${run.id}:input`, role: 'USER', text: run.input });
    return stored
      .filter(({ role, text }) => text && /^[UA]/.test(role))
      .map(({ id, role, text }) => ({
        id,
        role: role.toLowerCase(),
        parts: [{ type: 'text', text }],
      })) as Message[];
  }

  /** Sends a request. @throws ParleyError for a response that is no success. */
  async #send(query: string, variables: object, signal: AbortSignal): Promise<Response> {
    const { token, baseUrl = 'http://127.0.0.1:4000', fetch: given = fetch } = this.#options;
    const secret = typeof token === 'string' ? token : await token();
    const response = await given(`${baseUrl.replace(/\/+$/, '')}/graphql/stream`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'text/event-stream',
      },
      body: JSON.stringify({ query, variables }),
      signal,
    }).catch((error) => {
      signal.throwIfAborted();
      throw unreachable(error);
    });
    const { ok, status } = response;
    // A proxy without its server.
    if (status > 501) throw unreachable();
    if (!ok) dataOf(await response.json().catch(() => ({})), status);
    return response;
  }

  /** Opens the results of a GraphQL operation. The iteration throws ParleyError for a result without data. */
  async #open<Data>(query: string, variables: object, signal: AbortSignal) {
    const send = (sending: AbortSignal) => this.#send(query, variables, sending);
    return decode<Data>(await openEventStream(send, signal));
  }

  /** Reads fields of the conversation. @returns null if it has no message yet. */
  async #session<Fields>(
    fields: string,
    signal = new AbortController().signal,
  ): Promise<Fields | null | undefined> {
    const { bot, sessionId: id } = this.#options;
    const query = `query($bot:ID!$id:String$environment:Environment){bot(id:$bot){session(id:$id,environment:$environment){${fields}}}}`;
    const variables = { bot, id, environment: this.#environment };
    type Data = { bot?: { session?: Fields } };
    for await (const { bot } of await this.#open<Data>(query, variables, signal))
      return bot?.session;
    return null;
  }

  /** Opens the events of a run after a number. */
  #events({ runId, input }: Start, after: number | undefined, signal: AbortSignal) {
    return runId
      ? this.#open<UIEvent>(FOLLOW, { runId, after }, signal)
      : this.#open<UIEvent>(START, { botId: this.#options.bot, input }, signal);
  }

  /** Cancels a run. The first event of its stream has its ID. */
  async #cancel({ runId, input }: Start): Promise<void> {
    const signal = AbortSignal.timeout(CANCEL_LIMIT_MS);
    const variables = { botId: this.#options.bot, input: { ...input, replayOnly: true } };
    if (!runId)
      for await (const event of await this.#open<{ runId: string }>(START, variables, signal)) {
        ({ runId } = event);
        break;
      }
    await this.#send(CANCEL, { id: runId }, signal);
  }

  #stream(start: Start, abortSignal: AbortSignal | undefined): Chunks {
    const ended = new AbortController();
    const end = () => ended.abort();
    abortSignal?.addEventListener('abort', end);
    if (abortSignal?.aborted) end();
    const chunks = this.#chunks(start, ended.signal, abortSignal);
    return new ReadableStream({
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: end,
    });
  }

  async *#chunks(
    start: Start,
    signal: AbortSignal,
    abortSignal: AbortSignal | undefined,
  ): AsyncGenerator<UIMessageChunk> {
    const toChunks = createChunks();
    const open = (after: number | undefined) => this.#events(start, after, signal);
    try {
      for await (const event of readStream({ signal, open, recover: waitIn(signal) })) {
        if ('runId' in event) start.runId = event.runId;
        yield* toChunks(event);
        if (/^Chat/.test(event.type)) return;
      }
    } catch (error) {
      if (!abortSignal?.aborted) throw error;
      // A run that cannot be cancelled ends by itself.
      this.#cancel(start).catch(() => {});
      yield { type: 'abort' };
    }
  }
}

/** Waits before the next request, if the connection failed. @throws any other error, and the last one. */
function waitIn(signal: AbortSignal) {
  return async (error: unknown, failures: number): Promise<void> => {
    if (failures === MAX_RETRIES || !(error instanceof ConnectionError)) throw error;
    const wait = startDeadline(WAIT_MS * 2 ** failures, [signal]);
    await new Promise((resolve) => wait.signal.addEventListener('abort', resolve));
    wait.stop();
  };
}

type Session = {
  messages: { edges: { node: { id: string; role: string; text: string } }[] };
  activeRun: { id: string; input: string } | null;
};

const unreachable = (cause?: unknown) => new ConnectionError('Cannot reach the server.', cause);

/** @throws ParleyError if the operation failed. */
function dataOf<Data>({ data, errors }: Result<Data>, status?: number): Data {
  if (data && !errors) return data;
  const { message = 'The request failed.', extensions } = errors?.[0] ?? {};
  throw new ParleyError({ message, status, code: extensions?.code?.toLowerCase() ?? '' });
}

/** Reads the data of each result: of an event, what it selects. */
async function* decode<Data>(opened: EventSource | undefined): AsyncGenerator<Data> {
  if (!opened) return;
  for await (const result of readResults<Data & { event?: Data }>(opened.events)) {
    const data = dataOf(result);
    yield data.event ?? data;
  }
}
