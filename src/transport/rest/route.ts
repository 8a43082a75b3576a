import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { RequiredScope } from '../../accounts/caller.ts';
import {
  type ErrorCode,
  type GatewayError,
  invalidInput,
  problemsOf,
} from '../../errors/errors.ts';
import type { KeyScope } from '../../generated/prisma/client.ts';
import type { Context } from '../../schema/context.ts';
import type { Engine, Operation } from '../engine.ts';
import type { TextBody } from '../read-body.ts';
import { contradictions } from './contradictions.ts';
import type { Shape, Wire } from './shape.ts';
import { streamEvents } from './sse.ts';
import type { StreamForm } from './stream-form.ts';
import { unknownFields } from './unknown-fields.ts';

/** Response headers that only some routes send. */
export type AnswerHeader = 'X-Run-Id' | 'Idempotency-Replayed';

/**
 * The definition of a route: a mapping from the request to variables, a stored GraphQL document, a mapping from data to
 * the response, and documentation. It contains no logic.
 */
type Row<Input extends Shape, Variables, Data, Reply, Receipt, Event, Asked> = {
  method: 'GET' | 'POST' | 'DELETE';
  /** Relative to `/v1`. */
  path: string;
  /** The OpenAPI `operationId`, which names the method in generated clients. */
  id: string;
  /** The section of the API reference. */
  tag: 'Chat' | 'Runs' | 'Approvals' | 'Evaluations' | 'Deployments' | 'OpenAI';
  summary: string;
  /** Markdown, as `markdown` in `html.ts` renders it. */
  description?: string;
  /** Error codes of this route besides the codes of every route. */
  errors: ErrorCode[];
  /** Response headers of this route besides the headers of every route. */
  answerHeaders?: AnswerHeader[];
  /** The scope that the key needs, for the bot if one is in the path; none if access to the bot suffices. */
  scope?: RequiredScope;
  /** Whether the body may be empty, with any content type. */
  emptyBody?: boolean;
  /** The text that the body may be in place of JSON. */
  textBody?: TextBody;
  input: Input;
  /** Whether the body may have fields that nearly name a known one: the clients are not written for this API. */
  ignoresTypos?: boolean;
  /**
   * Maps the validated input to variables that the schema accepts without coercion errors. `stream` and `later` select
   * the form of the response; the default is `json`. `strict` asks for a refusal, if the response has one. `lastEventId`
   * is the number of the last event that a client received before it reconnected. `asked` is what the mapping of the
   * response needs to know of the request.
   */
  toVariables(input: z.output<z.ZodObject<Input>>): {
    variables: Variables;
    stream?: boolean;
    later?: boolean;
    strict?: boolean;
    lastEventId?: number | undefined;
    asked?: Asked;
  };
  /** The JSON response: its operation, the schema of its body, and the mapping from data to the body. */
  json?: {
    operation: Operation<Variables, Data>;
    /** The operation for keys without the scope that reading the full data requires. */
    limited?: { without: KeyScope; operation: Operation<Variables, Data> };
    schema: z.ZodType<Reply>;
    reply(data: Data, asked: Asked): NoInfer<Reply>;
    /** Whether the work that the body describes goes on: the status is then 202. */
    isPending?(data: Data): boolean;
    /** For strict requests: the response is an error if `reason` returns one. Its body has all fields of both. */
    refusal?: { schema: z.ZodType; reason(data: Data): GatewayError | undefined };
  };
  /** The 202 response for work that runs in the background. */
  accepted?: {
    operation: Operation<Variables, Data>;
    schema: z.ZodType<Receipt>;
    reply(data: Data): NoInfer<Receipt>;
  };
  /** The response as a stream: the reply, or the events of a run. */
  stream?: {
    form: StreamForm<Event>;
    operation: Operation<Variables, { event: Event }>;
    /** Reads the position of the last event of a finished run; null while it is active. */
    end?: Operation<Variables, { end: number | null }>;
  };
};

/** A route with its type parameters erased. */
export type Route = Pick<
  Row<Shape, unknown, unknown, unknown, unknown, unknown, unknown>,
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
  streams: StreamForm<unknown>['name'] | undefined;
  /** Schema of a frame of the stream. */
  frame: z.ZodType | undefined;
  /** Whether the id of the bot is in the path, so that access to it is checked before the body is read. */
  isOfBot: boolean;
  /** @throws GatewayError `invalid_request` with every problem, under the names that REST clients use. */
  read(wire: Wire): Call;
  /** Compiles the route's documents. @throws an error if one does not match the schema. */
  prepare(engine: Pick<Engine, 'prepare'>): void;
};

/** A validated request, ready to run. */
type Call = {
  /** The bot, if it is not in the path. */
  botId: string | undefined;
} & (
  | {
      stream: undefined;
      status: 200 | 202;
      execute(
        engine: Engine,
        context: Context,
      ): Promise<{ body: unknown; refusal: GatewayError | undefined; isPending: boolean }>;
    }
  | {
      stream: (
        reply: FastifyReply,
        engine: Engine,
        context: Context,
        signal: AbortSignal,
      ) => Promise<void>;
      lastEventId: number | undefined;
      /** For events: whether the run is finished and no event follows `lastEventId`. @throws GatewayError `run_not_found` */
      isOver?(engine: Engine, context: Context): Promise<boolean>;
    }
);

export function route<
  Input extends Shape,
  Variables extends Record<string, unknown>,
  Data,
  Reply,
  Receipt,
  Event extends { type: string },
  Asked,
>({
  toVariables,
  json,
  accepted,
  stream,
  ...row
}: Row<Input, Variables, Data, Reply, Receipt, Event, Asked>): Route {
  const input: z.ZodObject<Input> = z.object(row.input);
  const isOfBot = row.path.startsWith('/bots/:id');
  return {
    ...row,
    schema: json?.schema,
    acceptedSchema: json?.isPending ? json.schema : accepted?.schema,
    refusalSchema: json?.refusal?.schema,
    streams: stream?.form.name,
    frame: stream?.form.frame,
    isOfBot,
    prepare(engine) {
      for (const form of [json, json?.limited, accepted, stream])
        if (form) engine.prepare(form.operation);
      if (stream?.end) engine.prepare(stream.end);
    },
    read(wire) {
      const parsed = input.safeParse(wire);
      const issues = parsed.error?.issues.filter((issue) => !isOfUnknownFields(issue)) ?? [];
      const problems = [
        ...problemsOf({ issues }, 1),
        ...(row.input.body && !row.ignoresTypos ? unknownFields(wire.body, row.input.body) : []),
        ...contradictions(wire, row.input),
      ];
      if (!parsed.success || problems.length > 0) throw invalidInput(problems);
      const call = toVariables(parsed.data);
      const { variables, later, strict, lastEventId, stream: wantsStream } = call;
      const asked = call.asked as Asked;
      const botId = isOfBot || !('botId' in variables) ? undefined : String(variables.botId);
      if (stream && wantsStream) {
        const { form, operation, end: endOf } = stream;
        return {
          botId,
          lastEventId,
          stream: (reply, engine, context, signal) => {
            const start = () => engine.subscribe(operation, variables, { ...context, signal });
            return streamEvents(reply, form, start, signal, { lastEventId, asked });
          },
          ...(endOf && {
            isOver: async (engine: Engine, context: Context) => {
              const { end } = await engine.execute(endOf, variables, context);
              return end !== null && lastEventId !== undefined && lastEventId >= end;
            },
          }),
        };
      }
      const answer = later ? accepted : json;
      if (!answer) throw new Error('The route does not support this form of response.');
      return {
        botId,
        stream: undefined,
        status: later ? 202 : 200,
        execute: async (engine, context) => {
          const limited = answer === json ? json?.limited : undefined;
          const isLimited = limited && !context.caller().key.scopes.includes(limited.without);
          const { operation } = isLimited ? limited : answer;
          const data = await engine.execute(operation, variables, context);
          const refusal = strict ? json?.refusal?.reason(data) : undefined;
          const isPending = answer === json && json?.isPending?.(data) === true;
          return { body: answer.reply(data, asked), refusal, isPending };
        },
      };
    },
  };
}

/** `unknownFields` reports the unknown fields of a body, each with a suggestion. */
function isOfUnknownFields({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'unrecognized_keys' && path[0] === 'body';
}

/** One route whose requests run one of two documents. Both rows have the same documentation and the same input. */
export function eitherRoute(
  first: Route,
  second: Route,
  takesSecond: (wire: Wire) => boolean,
): Route {
  return {
    ...first,
    prepare(engine) {
      first.prepare(engine);
      second.prepare(engine);
    },
    read: (wire) => (takesSecond(wire) ? second : first).read(wire),
  };
}
