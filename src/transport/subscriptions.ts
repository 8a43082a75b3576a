import { type ExecutionArgs, type ExecutionResult, GraphQLError, subscribe } from 'graphql';
import type { Caller } from '../accounts/caller.ts';
import { GatewayError, toGatewayError } from '../errors.ts';
import type { Context } from '../schema/context.ts';
import { beginReading, refusalIn } from './reading.ts';

/** How many subscriptions a key, or a session, may have open at once. */
const MAX_OPEN = 100;

/** Begins a subscription, the same way on every transport. Errors are for the transport to mask. */
export type Subscribe = (
  args: ExecutionArgs,
) => Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult>;

/**
 * Subscriptions that last no longer than the key that began them: within a second of its end they tell
 * `INVALID_API_KEY`, and end too.
 */
export function createSubscribe(): Subscribe {
  const open = new Map<string, number>();

  const enter = (name: string) => {
    const count = open.get(name) ?? 0;
    if (count >= MAX_OPEN) return false;
    open.set(name, count + 1);
    return true;
  };
  const leave = (name: string) => {
    const count = (open.get(name) ?? 1) - 1;
    if (count > 0) open.set(name, count);
    else open.delete(name);
  };

  return async (args) => {
    // The libraries hand on as unknown what our transports gave them.
    const context = args.contextValue as Context;
    const caller = callerOf(context);
    if (caller instanceof GatewayError) return { errors: [refusal(caller)] };
    const name = nameOf(caller);
    if (!enter(name)) return { errors: [refusal(tooMany())] };
    // A resolver that waits for something knows of no reader's end but by its signal.
    const { signal, end } = beginReading(context);
    let isOver = false;
    const finish = () => {
      if (isOver) return;
      isOver = true;
      end();
      leave(name);
    };
    try {
      const source = await subscribe({ ...args, contextValue: { ...context, signal } });
      if (!(Symbol.asyncIterator in source)) {
        finish();
        return source;
      }
      return untilEnded(source, signal, finish);
    } catch (error) {
      finish();
      throw error;
    }
  };
}

/** Reads a source until it is over, its reader leaves, or the key ends: of that the reader is told. */
function untilEnded(
  source: AsyncGenerator<ExecutionResult, void, void>,
  signal: AbortSignal,
  finish: () => void,
): AsyncGenerator<ExecutionResult, void, void> {
  const done = { done: true, value: undefined } as const;
  let isDone = false;
  const stop = () => {
    isDone = true;
    finish();
    return done;
  };
  return {
    async next() {
      if (isDone) return done;
      try {
        const step = await source.next();
        const ended = isDone ? undefined : refusalIn(signal);
        if (!step.done && !ended) return step;
        stop();
        await source.return();
        return ended ? { done: false, value: { errors: [refusal(ended)] } } : done;
      } catch (error) {
        stop();
        throw error;
      }
    },
    async return() {
      stop();
      await source.return();
      return done;
    },
    async throw(error) {
      stop();
      return source.throw(error);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    async [Symbol.asyncDispose]() {
      await this.return();
    },
  };
}

function callerOf(context: Context): Caller | GatewayError {
  try {
    return context.caller();
  } catch (error) {
    return toGatewayError(error);
  }
}

/** Pages share the key that made their tokens, and do not crowd each other out. */
function nameOf({ key, session }: Caller): string {
  return session ? JSON.stringify([key.id, session]) : key.id;
}

function tooMany(): GatewayError {
  const message = `${MAX_OPEN} subscriptions are open already. End one of them.`;
  return new GatewayError('rate_limit_exceeded', message, { retryAfter: 1 });
}

function refusal(originalError: GatewayError): GraphQLError {
  return new GraphQLError(originalError.message, { originalError });
}
