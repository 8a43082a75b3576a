import { type ExecutionArgs, type ExecutionResult, GraphQLError, subscribe } from 'graphql';
import type { Caller } from '../../accounts/caller.ts';
import { createConcurrencyLimit } from '../../accounts/concurrency-limit.ts';
import { type GatewayError, toGatewayError } from '../../errors.ts';
import type { Context } from '../../schema/context.ts';
import { type AcquireStream, beginReading, refusalIn } from '../reading.ts';

/** Of one key; pages share the key that made their tokens, but no slots: each session has its own. */
const MAX_OF_KEY = 100;

/** Begins a subscription, the same way on every transport. Errors are for the transport to mask. */
export type Subscribe = (
  args: ExecutionArgs,
) => Promise<AsyncGenerator<ExecutionResult, void, void> | ExecutionResult>;

/**
 * Subscriptions that last no longer than the key that began them: within a second of its end they tell
 * `INVALID_API_KEY`, and end too; one that breaks tells `INTERNAL_ERROR`.
 */
export function createSubscribe(acquireStream: AcquireStream): Subscribe {
  const acquireSlot = createConcurrencyLimit(
    (max) => `${max} subscriptions are open already. End one of them.`,
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
    // The libraries hand on as unknown what our transports gave them.
    const context = args.contextValue as Context;
    let leave: () => void;
    try {
      leave = acquire(context.caller());
    } catch (error) {
      return { errors: [refusal(toGatewayError(error))] };
    }
    // A resolver that waits for something knows of no reader's end but by its signal.
    const { signal, end } = beginReading(context);
    const finish = () => {
      end();
      leave();
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

/**
 * Reads a source until it is over, its reader leaves, the key ends, or it breaks: of the last two the reader is told, so
 * that no other operation on its connection ends with it.
 */
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
      let broken: GatewayError | undefined;
      const step = await source.next().catch((error: unknown) => {
        if (!signal.aborted) broken = toGatewayError(error);
        return done;
      });
      if (isDone) return step;
      const error = refusalIn(signal) ?? broken;
      if (!step.done && !error) return step;
      stop();
      await source.return();
      return error ? { done: false, value: { errors: [refusal(error)] } } : done;
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

function refusal(originalError: GatewayError): GraphQLError {
  return new GraphQLError(originalError.message, { originalError });
}
