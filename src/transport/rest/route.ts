import { z } from 'zod';
import type { RequiredScope } from '../../accounts/caller.ts';
import { type ErrorCode, invalidRequest } from '../../errors.ts';
import type { KeyScope } from '../../generated/prisma/client.ts';
import type { StreamedEvent } from '../../operations/chat.ts';
import type { Operation } from '../../operations/operation.ts';
import type { LoggedEvent } from '../../operations/runs.ts';
import type { Context } from '../../schema/context.ts';
import type { Engine } from '../engine.ts';
import type { StreamedResult, StreamForm } from './sse.ts';

/** What an answer may say in headers of its own. */
export type AnswerHeader = 'X-Run-Id' | 'Idempotency-Replayed';

/** What a request carries, by where it stands. */
export type Wire = { params: unknown; query: unknown; headers: unknown; body: unknown };

/** The same, each with what it must be: for the check of requests and for their description. */
type Shape = {
  params: z.ZodObject;
  query?: z.ZodObject;
  headers?: z.ZodObject;
  body?: z.ZodType;
};

/**
 * One row of the table of routes: a mapping in, a stored document, a mapping out, and what people are to know of
 * it. It holds no logic.
 */
type Row<Input extends Shape, Variables, Data, Reply, Receipt> = {
  method: 'GET' | 'POST';
  /** Below `/v1`. */
  path: string;
  /** What clients that are generated call it. */
  id: string;
  /** The chapter of the reference that it stands in. */
  tag: 'Chat' | 'Runs' | 'Deployments';
  summary: string;
  /** As Markdown that knows backticks alone. */
  description?: string;
  /** The codes that this route may refuse with, besides those that every route may. */
  errors: ErrorCode[];
  /** What its answers say in headers, besides what every answer does. */
  answerHeaders?: AnswerHeader[];
  /** What the key must be able to do with the bot that the path names; none: see it. */
  scope?: RequiredScope;
  /** Whether an empty body will do, under any content type. */
  emptyBody?: boolean;
  /** What the request carries. */
  input: Input;
  /**
   * Turns the input, checked, into the operation's variables, so that coercion by the schema cannot fail.
   * `stream` and `later` say which of the ways the caller wants the answer.
   */
  toVariables(input: z.output<z.ZodObject<Input>>): {
    variables: Variables;
    stream?: boolean;
    later?: boolean;
  };
  /** Where the route answers as JSON: the operation, what the body is, and the body made of its data. */
  json?: {
    operation: Operation<Variables, Data>;
    /** The operation for a key without a scope that the data of the other one need. */
    limited?: { without: KeyScope; operation: Operation<Variables, Data> };
    schema: z.ZodType<Reply>;
    reply(data: Data): NoInfer<Reply>;
  };
  /** Where the route answers that the work is taken on and done later, with 202. */
  accepted?: {
    operation: Operation<Variables, Data>;
    schema: z.ZodType<Receipt>;
    reply(data: Data): NoInfer<Receipt>;
  };
  /** Where the route answers as a stream of frames: the reply, or the numbered events of a run. */
  stream?:
    | ({ form: 'reply' } & { operation: Operation<Variables, { event: StreamedEvent }> })
    | ({ form: 'events' } & { operation: Operation<Variables, { event: LoggedEvent }> });
};

/** A row, closed over its types. */
export type Route = Pick<
  Row<Shape, unknown, unknown, unknown, unknown>,
  | 'method'
  | 'path'
  | 'id'
  | 'tag'
  | 'summary'
  | 'description'
  | 'errors'
  | 'answerHeaders'
  | 'scope'
  | 'emptyBody'
  | 'input'
> & {
  /** What it answers as JSON. */
  schema: z.ZodType | undefined;
  /** The same where it takes the work on for later. */
  acceptedSchema: z.ZodType | undefined;
  /** What it streams. */
  streams: StreamForm | undefined;
  /** @throws GatewayError `invalid_request` with every problem, by the names of the wire. */
  read(wire: Wire): Call;
  /** Has the engine read the route's documents. @throws an error where one does not fit the schema. */
  prepare(engine: Pick<Engine, 'prepare'>): void;
};

/** A request understood, ready to run. */
type Call =
  | {
      stream: false;
      status: 200 | 202;
      execute(engine: Engine, context: Context): Promise<unknown>;
    }
  | {
      stream: StreamForm;
      subscribe(engine: Engine, context: Context): Promise<AsyncIterable<StreamedResult>>;
    };

export function route<
  Input extends Shape,
  Variables extends Record<string, unknown>,
  Data,
  Reply,
  Receipt,
>({
  toVariables,
  json,
  accepted,
  stream,
  ...row
}: Row<Input, Variables, Data, Reply, Receipt>): Route {
  const input: z.ZodObject<Input> = z.object(row.input);
  return {
    ...row,
    schema: json?.schema,
    acceptedSchema: accepted?.schema,
    streams: stream?.form,
    prepare(engine) {
      for (const form of [json, json?.limited, accepted, stream])
        if (form) engine.prepare(form.operation);
    },
    read(wire) {
      const parsed = input.safeParse(wire);
      if (!parsed.success) throw invalidRequest(parsed.error, 1);
      const { variables, later, stream: wantsStream } = toVariables(parsed.data);
      if (stream && wantsStream) {
        return {
          stream: stream.form,
          subscribe: (engine, context) =>
            engine.subscribe<Variables, StreamedResult>(stream.operation, variables, context),
        };
      }
      const answer = later ? accepted : json;
      if (!answer) throw new Error('The route does not answer in this way.');
      return {
        stream: false,
        status: later ? 202 : 200,
        execute: async (engine, context) => {
          const limited = answer === json ? json?.limited : undefined;
          const isLimited = limited && !context.caller().key.scopes.includes(limited.without);
          const { operation } = isLimited ? limited : answer;
          return answer.reply(await engine.execute(operation, variables, context));
        },
      };
    },
  };
}
