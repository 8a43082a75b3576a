import {
  createSourceEventStream,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  GraphQLError,
  print,
} from 'graphql';
import type { Caller } from '../../accounts/caller.ts';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import { startDeadline } from '../../async/deadline.ts';
import { yieldTurn } from '../../async/event-loop-turn.ts';
import { isNotice } from '../../coordination/notices.ts';
import type { GatewayError } from '../../errors/errors.ts';
import { weighEvent } from '../../schema/admission/weight.ts';
import { type Context, contextOfEvent } from '../../schema/context.ts';
import { fromGraphQLError } from '../../schema/graphql-error.ts';
import { limitAnswer, measureAnswer } from '../answer-size.ts';
import { type AcquireStream, beginStreamRead, refusalIn } from '../reading.ts';
import { createEventAllowance, type EventAllowance } from './event-allowance.ts';

/** Open subscriptions of one key, or of one token's session: pages that share a key do not share slots. */
const MAX_OF_KEY = 100;

/** Time for an event that several subscriptions share. */
const SHARED_LIMIT_MS = 30_000;

/** Starts a subscription for any transport. The transport must mask the errors. */
export type Subscribe = (
  args: ExecutionArgs,
) => Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult>;

/**
 * Creates subscriptions that do not outlive their API key: within a second after it is revoked or expires, they emit
 * `INVALID_API_KEY` and end. A subscription that fails emits `INTERNAL_ERROR`.
 */
export function createSubscribe(
  acquireStream: AcquireStream,
  allowance = createEventAllowance(),
): Subscribe {
  const resolverOf = createResolverOf(allowance);
  const acquireSlot = createConcurrencyLimit(
    (max) => `There are already ${max} open subscriptions. Close one of them.`,
  );

  /** Reserves a slot of the key, or of a token's session, and one of the account. */
  const acquire = (caller: Caller) => {
    const { key, session } = caller;
    const release = acquireSlot(JSON.stringify([key.id, session]), MAX_OF_KEY);
    try {
      const releaseStream = acquireStream(caller);
      return () => {
        release();
        releaseStream();
      };
    } catch (error) {
      release();
      throw error;
    }
  };

  return async (args) => {
    // The libraries type the context of our transports as `unknown`.
    const context = args.contextValue as Context;
    let leave: () => void;
    try {
      leave = acquire(context.caller());
    } catch (error) {
      return { errors: [refusal(fromGraphQLError(error))] };
    }
    // The signal is a waiting resolver's only way to learn that its client has disconnected.
    const { signal, end } = beginStreamRead(context);
    const finish = () => {
      end();
      leave();
    };
    try {
      const own = { ...args, contextValue: { ...context, signal } };
      const source = await createSourceEventStream(own);
      if (!(Symbol.asyncIterator in source)) {
        finish();
        return source;
      }
      return untilEnded(source[Symbol.asyncIterator](), resolverOf(own), signal, finish);
    } catch (error) {
      finish();
      throw error;
    }
  };
}

/**
 * Creates a function that resolves an event. Events that read from the database, or select many values, count against the
 * account's allowance. Subscriptions of one key with the same document and variables share the result of a notice.
 * Between events other work gets its turn, so that no subscriber delays another one.
 */
function createResolverOf(allowance: EventAllowance) {
  return (args: ExecutionArgs & { contextValue: Context }) => {
    const { schema, document, operationName, variableValues, contextValue } = args;
    const { caller } = contextValue;
    const { cost } = weighEvent(schema, document, operationName, variableValues);
    const question = questionOf(args);

    const resolve = async (rootValue: unknown, signal: AbortSignal): Promise<ExecutionResult> => {
      const event = {
        ...args,
        rootValue,
        contextValue: contextOfEvent({ ...contextValue, signal }),
      };
      if (cost === 0) return limitAnswer(await execute(event));
      await allowance.take(caller(), cost, signal);
      const { result, bytes } = measureAnswer(await execute(event));
      allowance.spend(caller(), bytes);
      return result;
    };

    return async (rootValue: unknown): Promise<ExecutionResult> => {
      const turn = yieldTurn();
      if (turn) await turn;
      if (!isNotice(rootValue)) return resolve(rootValue, contextValue.signal);
      return rootValue.once(question, async () => {
        // The subscriber that resolves it first may leave before the others.
        using deadline = startDeadline(SHARED_LIMIT_MS);
        return await resolve(rootValue, deadline.signal);
      });
    };
  };
}

/** The key, the document and the variables of a subscription. Subscriptions with the same ones get the same results. */
function questionOf({
  document,
  operationName,
  variableValues,
  contextValue,
}: ExecutionArgs & { contextValue: Context }): string {
  const { key, session } = contextValue.caller();
  const text = document.loc?.source.body ?? print(document);
  return JSON.stringify([key.id, session, operationName, variableValues, text]);
}

/**
 * Reads a source until it completes, the client disconnects, the key ends, or the source fails. The last two become a
 * result with an error, because a thrown error would end the other operations on the connection.
 */
function untilEnded(
  source: AsyncIterator<unknown>,
  resolve: (event: unknown) => Promise<ExecutionResult>,
  signal: AbortSignal,
  finish: () => void,
): AsyncGenerator<ExecutionResult, void, void> {
  const done = { done: true, value: undefined } as const;
  let isDone = false;
  const readStep = async (): Promise<IteratorResult<ExecutionResult, void>> => {
    const { done: isOver, value } = await source.next();
    return isOver ? done : { done: false, value: await resolve(value) };
  };
  const stop = () => {
    isDone = true;
    finish();
    return done;
  };
  return {
    async next() {
      if (isDone) return done;
      let broken: GatewayError | undefined;
      const step = await readStep().catch((error: unknown) => {
        if (!signal.aborted) broken = fromGraphQLError(error);
        return done;
      });
      if (isDone) return done;
      const error = refusalIn(signal) ?? broken;
      if (!step.done && !error) return step;
      stop();
      await source.return?.();
      return error ? { done: false, value: { errors: [refusal(error)] } } : done;
    },
    async return() {
      stop();
      await source.return?.();
      return done;
    },
    async throw(error) {
      stop();
      await source.return?.();
      throw error;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

function refusal(originalError: GatewayError): GraphQLError {
  return new GraphQLError(originalError.message, { originalError });
}
