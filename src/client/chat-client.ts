import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { ChatInput, ChatReply } from './chats.ts';
import { type Connection, createConnection } from './connection.ts';
import type { ClientOptions, RateLimits, RequestOptions } from './options.ts';
import { cancelRun, createReplyStream, type ReplyStream } from './reply-stream.ts';
import { restChat } from './rest-source.ts';
import { newIdempotencyKey, type RunSource } from './run-source.ts';

/** A client that only chats, with an API key, for small bundles. `Parley` is this client and all other methods. */
export class ChatClient {
  protected readonly connection: Connection;

  /** @throws ParleyError if an option is missing or invalid. */
  constructor(options: Omit<ClientOptions, 'sessionToken'>) {
    this.connection = createConnection(options);
  }

  /** The rate limit, as the last response reported it. */
  get limits(): RateLimits | undefined {
    return this.connection.limits();
  }

  /** Sends a message to a bot. */
  chat(botId: string, input: ChatInput, options?: RequestOptions): ApiPromise<ChatReply> {
    const settings = this.connection.settingsOf(options);
    const source = this.sourceOf(botId, input, keyOf(options));
    const onAbandoned = () => cancelRun(this.connection, source, settings);
    return apiPromise(this.connection.call(source.whole, settings, source.read, onAbandoned));
  }

  /** Sends a message to a bot, and streams the reply. The request is sent when the stream is read. */
  chatStream(botId: string, input: ChatInput, options?: RequestOptions): ReplyStream<ChatReply> {
    const source = this.sourceOf(botId, input, keyOf(options));
    return createReplyStream(this.connection, source, this.connection.settingsOf(options));
  }

  protected sourceOf(botId: string, input: ChatInput, key: string): RunSource<ChatReply> {
    return restChat(botId, input, key);
  }
}

export function keyOf(options: RequestOptions | undefined): string {
  return options?.idempotencyKey ?? newIdempotencyKey();
}
