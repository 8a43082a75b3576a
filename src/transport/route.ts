import type { z } from 'zod';
import { invalidRequest } from '../errors.ts';
import type { KeyScope } from '../generated/prisma/client.ts';
import type { StreamedEvent } from '../operations/chat.ts';
import type { Operation } from '../operations/operation.ts';
import type { Context } from '../schema/context.ts';
import type { Engine } from './engine.ts';

/** What a request carries, by where it stands. */
export type Wire = { params: unknown; query: unknown; headers: unknown; body: unknown };

/** One row of the table of routes: a mapping in, a stored document, a mapping out. It holds no logic. */
type Row<Variables, Data> = {
  method: 'GET' | 'POST';
  /** Below `/v1`. */
  path: string;
  /** What the key must be able to do with the bot that the path names; none: see it. */
  scope?: KeyScope;
  /** Whether an empty body will do, under any content type. */
  emptyBody?: boolean;
  /**
   * Checks the wire and turns it into the operation's variables, so that coercion by the schema cannot fail.
   * `stream` says which of the two ways the caller wants the answer.
   */
  input: z.ZodType<{ variables: Variables; stream?: boolean }>;
  /** Where the route answers as JSON: the operation, and the body made of its data. */
  json?: { operation: Operation<Variables, Data>; reply(data: Data): unknown };
  /** Where the route answers as a stream of frames. */
  stream?: Operation<Variables, { event: StreamedEvent }>;
};

/** A row, closed over its types. */
export type Route = Pick<Row<unknown, unknown>, 'method' | 'path' | 'scope' | 'emptyBody'> & {
  /** @throws GatewayError `invalid_request` with every problem, by the names of the wire. */
  read(wire: Wire): Call;
  /** Has the engine read the route's documents. @throws an error where one does not fit the schema. */
  prepare(engine: Engine): void;
};

/** A request understood, ready to run. */
type Call =
  | { stream: false; execute(engine: Engine, context: Context): Promise<unknown> }
  | {
      stream: true;
      subscribe(engine: Engine, context: Context): Promise<AsyncIterable<StreamedEvent>>;
    };

export function route<Variables extends Record<string, unknown>, Data>({
  input,
  json,
  stream,
  ...row
}: Row<Variables, Data>): Route {
  return {
    ...row,
    prepare(engine) {
      for (const operation of [json?.operation, stream]) if (operation) engine.prepare(operation);
    },
    read(wire) {
      const parsed = input.safeParse(wire);
      if (!parsed.success) throw invalidRequest(parsed.error, 1);
      const { variables } = parsed.data;
      if (stream && parsed.data.stream) {
        return {
          stream: true,
          subscribe: async (engine, context) =>
            eventsOf(await engine.subscribe(stream, variables, context)),
        };
      }
      if (!json) throw new Error('The route answers neither as JSON nor as a stream.');
      return {
        stream: false,
        execute: async (engine, context) =>
          json.reply(await engine.execute(json.operation, variables, context)),
      };
    },
  };
}

async function* eventsOf(results: AsyncIterable<{ event: StreamedEvent }>) {
  for await (const { event } of results) yield event;
}
