import { type ApiPromise, apiPromise } from './api-promise.ts';
import type { BackgroundRun } from './background-run.ts';
import { createBackgroundRun } from './background-run.ts';
import { ChatClient, keyOf } from './chat-client.ts';
import type { ChatInput, ChatReply, ExecuteInput, ExecuteReply } from './chats.ts';
import type { Settings } from './connection.ts';
import { deployed } from './deployed.ts';
import type {
  DeployInput,
  Deployment,
  DeploymentFilter,
  DeployReply,
  RollbackInput,
  RollbackReply,
} from './deployments.ts';
import { PermissionError } from './errors.ts';
import { graphQLChat } from './graphql-source.ts';
import { createList, type List } from './list.ts';
import type { ClientOptions, RequestOptions } from './options.ts';
import { cancelRun, createReplyStream, type ReplyStream } from './reply-stream.ts';
import { misuse } from './request.ts';
import { pathOf, restChat, restExecute, runPath } from './rest-source.ts';
import { followRun } from './run-events.ts';
import type { RunSource } from './run-source.ts';
import type { CancelledRun, Run, RunEvent, RunFilter } from './runs.ts';
import { fromWire, toWire } from './wire.ts';

/** The client of Parley's REST API. Each method takes the options of the call as its last argument. */
export class Parley extends ChatClient {
  readonly #hasToken: boolean;

  /** @throws ParleyError if an option is missing or invalid. */
  constructor({ sessionToken, ...options }: ClientOptions) {
    const hasToken = sessionToken !== undefined;
    if (hasToken && options.apiKey) throw misuse('Give an apiKey or a sessionToken, not both.');
    super(hasToken ? { ...options, apiKey: sessionToken, dangerouslyAllowBrowser: true } : options);
    this.#hasToken = hasToken;
  }

  protected override sourceOf(botId: string, input: ChatInput, key: string): RunSource<ChatReply> {
    return (this.#hasToken ? graphQLChat : restChat)(botId, input, key);
  }

  /** Runs a prompt without a conversation. With `background`, it resolves with a handle as soon as the run is queued. */
  execute(
    botId: string,
    input: ExecuteInput & { background: true },
    options?: RequestOptions,
  ): ApiPromise<BackgroundRun>;
  execute(
    botId: string,
    input: ExecuteInput & { background?: false | undefined },
    options?: RequestOptions,
  ): ApiPromise<ExecuteReply>;
  execute(
    botId: string,
    input: ExecuteInput,
    options?: RequestOptions,
  ): ApiPromise<ExecuteReply | BackgroundRun>;
  execute(
    botId: string,
    input: ExecuteInput,
    options?: RequestOptions,
  ): ApiPromise<ExecuteReply | BackgroundRun> {
    const connection = this.connection;
    const settings = this.#settingsOf(options);
    const source = restExecute(botId, input, settings.key);
    if (!input.background) {
      const onAbandoned = () => cancelRun(connection, source, settings);
      return apiPromise(connection.call(source.whole, settings, source.read, onAbandoned));
    }
    return apiPromise(
      connection.call(source.whole, settings, (body) => {
        const { runId } = fromWire(body) as { runId: string };
        return createBackgroundRun(connection, { botId, runId, input });
      }),
    );
  }

  /** Runs a prompt without a conversation, and streams the reply. */
  executeStream(
    botId: string,
    input: Omit<ExecuteInput, 'background'>,
    options?: RequestOptions,
  ): ReplyStream<ExecuteReply> {
    const settings = this.#settingsOf(options);
    return createReplyStream(this.connection, restExecute(botId, input, settings.key), settings);
  }

  /** Deploys a definition; the next request uses it. @throws DeployError if the definition has errors. */
  deploy(botId: string, input: DeployInput, options?: RequestOptions): ApiPromise<DeployReply> {
    const { source, ...rest } = input;
    const body = { agentlang: source, ...toWire(rest) };
    return this.#post(`${pathOf(botId)}/deploy`, body, options, deployed<DeployReply>);
  }

  /** Deploys the source and the variables of an earlier deployment again. */
  rollback(
    botId: string,
    deploymentId: string,
    input: RollbackInput = {},
    options?: RequestOptions,
  ): ApiPromise<RollbackReply> {
    const path = `${pathOf(botId)}/deployments/${encodeURIComponent(deploymentId)}/rollback`;
    return this.#post(path, toWire(input), options, deployed<RollbackReply>);
  }

  /** Lists the deployments of a bot, newest first, including failed attempts. */
  deployments(
    botId: string,
    filter: DeploymentFilter = {},
    options?: RequestOptions,
  ): List<Deployment> {
    const path = `${pathOf(botId)}/deployments`;
    this.#assertKey();
    return createList(this.connection, { path, field: 'deployments', filter }, options);
  }

  /** Lists the runs of a bot, newest first, with their traces. */
  runs(botId: string, filter: RunFilter = {}, options?: RequestOptions): List<Run> {
    this.#assertKey();
    const path = `${pathOf(botId)}/runs`;
    return createList(this.connection, { path, field: 'runs', filter }, options);
  }

  /** Reads a run in its current state, with its trace. */
  run(botId: string, runId: string, options?: RequestOptions): ApiPromise<Run> {
    const settings = this.#settingsOf(options);
    const request = { method: 'GET' as const, path: runPath(botId, runId) };
    return apiPromise(this.connection.call(request, settings, (body) => fromWire(body) as Run));
  }

  /**
   * Reads the events of a run after a number, or all, and follows the run until it ends. It survives lost connections.
   * Breaking out of the loop leaves the run alone.
   */
  runEvents(
    botId: string,
    runId: string,
    { after }: { after?: number | undefined } = {},
    options?: RequestOptions,
  ): AsyncIterable<RunEvent> {
    const settings = this.#settingsOf(options);
    return followRun(this.connection, { botId, runId, after }, settings);
  }

  /** Cancels a queued or running run. A run that has ended is returned as it is. */
  cancel(botId: string, runId: string, options?: RequestOptions): ApiPromise<CancelledRun> {
    const settings = this.#settingsOf(options);
    const request = { path: `${runPath(botId, runId)}/cancel` };
    return apiPromise(
      this.connection.call(request, settings, (body) => fromWire(body) as CancelledRun),
    );
  }

  #post<Reply>(
    path: string,
    body: object,
    options: RequestOptions | undefined,
    read: (body: unknown, response: Response) => Reply,
  ): ApiPromise<Reply> {
    const settings = this.#settingsOf(options);
    const headers = { 'idempotency-key': settings.key };
    return apiPromise(this.connection.call({ path, headers, body }, settings, read));
  }

  #settingsOf(options: RequestOptions | undefined): Settings & { key: string } {
    this.#assertKey();
    return { ...this.connection.settingsOf(options), key: keyOf(options) };
  }

  #assertKey(): void {
    if (!this.#hasToken) return;
    const message = 'A session token can only chat. Use an API key on a server.';
    throw new PermissionError({ message, code: 'insufficient_scope' });
  }
}
