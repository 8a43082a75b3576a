import { z } from 'zod';
import type { RequiredScope } from '../../accounts/caller.ts';
import {
  type ErrorCode,
  type GatewayError,
  invalidInput,
  problemsOf,
} from '../../errors/errors.ts';
import type {
  LoggedEventFragment,
  StreamedEventFragment,
} from '../../generated/operations/rest.ts';
import type { KeyScope } from '../../generated/prisma/client.ts';
import type { Context } from '../../schema/context.ts';
import type { Engine, Operation } from '../engine.ts';
import type { TextBody } from '../read-body.ts';
import { contradictions } from './contradictions.ts';
import type { Shape, Wire } from './shape.ts';
import type { StreamedResult, StreamForm } from './sse.ts';
import { unknownFields } from './unknown-fields.ts';

/** Response headers that only some routes send. */
export type AnswerHeader = 'X-Run-Id' | 'Idempotency-Replayed';

/**
 * The definition of a route: a mapping from the request to variables, a stored GraphQL document, a mapping from data to
 * the response, and documentation. It contains no logic.
 */
type Row<Input extends Shape, Variables, Data, Reply, Receipt> = {
  method: 'GET' | 'POST';
  /** Relative to `/v1`. */
  path: string;
  /** The OpenAPI `operationId`, which names the method in generated clients. */
  id: string;
  /** The section of the API reference. */
  tag: 'Chat' | 'Runs' | 'Deployments';
  summary: string;
  /** Markdown, as `markdown` in `html.ts` renders it. */
  description?: string;
  /** Error codes of this route besides the codes of every route. */
  errors: ErrorCode[];
  /** Response headers of this route besides the headers of every route. */
  answerHeaders?: AnswerHeader[];
  /** The scope that the key needs for the bot in the path; none if access to the bot suffices. */
  scope?: RequiredScope;
  /** Whether the body may be empty, with any content type. */
  emptyBody?: boolean;
  /** The text that the body may be in place of JSON. */
  textBody?: TextBody;
  input: Input;
  /**
   * Maps the validated input to variables that the schema accepts without coercion errors. `stream` and `later` select
   * the form of the response; the default is `json`. `strict` asks for a refusal, if the response has one. `lastEventId`
   * is the number of the last event that a client received before it reconnected.
   */
  toVariables(input: z.output<z.ZodObject<Input>>): {
    variables: Variables;
    stream?: boolean;
    later?: boolean;
    strict?: boolean;
    lastEventId?: number | undefined;
  };
  /** The JSON response: its operation, the schema of its body, and the mapping from data to the body. */
  json?: {
    operation: Operation<Variables, Data>;
    /** The operation for keys without the scope that reading the full data requires. */
    limited?: { without: KeyScope; operation: Operation<Variables, Data> };
    schema: z.ZodType<Reply>;
    reply(data: Data): NoInfer<Reply>;
    /** For strict requests: the response is an error if `reason` returns one. Its body has all fields of both. */
    refusal?: { schema: z.ZodType; reason(data: Data): GatewayError | undefined };
  };
  /** The 202 response for work that runs in the background. */
  accepted?: {
    operation: Operation<Variables, Data>;
    schema: z.ZodType<Receipt>;
    reply(data: Data): NoInfer<Receipt>;
  };
  /** The response as a stream of frames: the reply, or the numbered events of a run. */
  stream?:
    | ({ form: 'reply' } & { operation: Operation<Variables, { event: StreamedEventFragment }> })
    | ({ form: 'events' } & {
        operation: Operation<Variables, { event: LoggedEventFragment }>;
        /** Reads the position of the last event of a finished run; null while it is active. */
        end: Operation<Variables, { end: number | null }>;
      });
};

/** A route with its type parameters erased. */
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
  | 'textBody'
  | 'input'
> & {
  /** Schema of the JSON body with status 200. */
  schema: z.ZodType | undefined;
  /** Schema of the JSON body with status 202. */
  acceptedSchema: z.ZodType | undefined;
  /** Schema of the JSON body of a refusal. */
  refusalSchema: z.ZodType | undefined;
  streams: StreamForm | undefined;
  /** @throws GatewayError `invalid_request` with every problem, under the names that REST clients use. */
  read(wire: Wire): Call;
  /** Compiles the route's documents. @throws an error if one does not match the schema. */
  prepare(engine: Pick<Engine, 'prepare'>): void;
};

/** A validated request, ready to run. */
type Call =
  | {
      stream: false;
      status: 200 | 202;
      execute(
        engine: Engine,
        context: Context,
      ): Promise<{ body: unknown; refusal: GatewayError | undefined }>;
    }
  | {
      stream: StreamForm;
      lastEventId: number | undefined;
      /** For events: whether the run is finished and no event follows `lastEventId`. @throws GatewayError `run_not_found` */
      isOver?(engine: Engine, context: Context): Promise<boolean>;
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
    refusalSchema: json?.refusal?.schema,
    streams: stream?.form,
    prepare(engine) {
      for (const form of [json, json?.limited, accepted, stream])
        if (form) engine.prepare(form.operation);
      if (stream?.form === 'events') engine.prepare(stream.end);
    },
    read(wire) {
      const parsed = input.safeParse(wire);
      const issues = parsed.error?.issues.filter((issue) => !isOfUnknownFields(issue)) ?? [];
      const problems = [
        ...problemsOf({ issues }, 1),
        ...(row.input.body ? unknownFields(wire.body, row.input.body) : []),
        ...contradictions(wire, row.input),
      ];
      if (!parsed.success || problems.length > 0) throw invalidInput(problems);
      const call = toVariables(parsed.data);
      const { variables, later, strict, lastEventId, stream: wantsStream } = call;
      if (stream && wantsStream) {
        return {
          stream: stream.form,
          lastEventId,
          ...(stream.form === 'events' && {
            isOver: async (engine: Engine, context: Context) => {
              const { end } = await engine.execute(stream.end, variables, context);
              return end !== null && lastEventId !== undefined && lastEventId >= end;
            },
          }),
          subscribe: (engine, context) =>
            engine.subscribe<Variables, StreamedResult>(stream.operation, variables, context),
        };
      }
      const answer = later ? accepted : json;
      if (!answer) throw new Error('The route does not support this form of response.');
      return {
        stream: false,
        status: later ? 202 : 200,
        execute: async (engine, context) => {
          const limited = answer === json ? json?.limited : undefined;
          const isLimited = limited && !context.caller().key.scopes.includes(limited.without);
          const { operation } = isLimited ? limited : answer;
          const data = await engine.execute(operation, variables, context);
          const refusal = strict ? json?.refusal?.reason(data) : undefined;
          return { body: answer.reply(data), refusal };
        },
      };
    },
  };
}

/** `unknownFields` reports the unknown fields of a body, each with a suggestion. */
function isOfUnknownFields({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' && path[0] === 'body';
}
