import { z } from 'zod';
import { expected, listOf, runMetadata } from '../../text/input.ts';
import { jsonObject } from '../../text/json.ts';
import { exampleId } from '../rest/wire.ts';
import { modelName, unixTime } from './model-wire.ts';
import { anyObject, flag, formatProblem, ignored, limited, objectOrNull } from './openai-wire.ts';

const ANY = { type: 'object', additionalProperties: true } as const;

/** Messages of one request. */
const MAX_MESSAGES = 500;

export const message = z
  .object(
    {
      role: z
        .enum(
          ['system', 'developer', 'user', 'assistant', 'tool', 'function'],
          'must be "system", "developer", "user", "assistant" or "tool"',
        )
        .meta({ description: 'Author of the message.', examples: ['user'] }),
      content: limited(
        'Text of the message, or a list of parts of the type `text`. Other parts are `unsupported_content`.',
        { type: ['string', 'array', 'null'] },
      ).meta({ examples: ['Hello!'] }),
      tool_calls: limited(
        'Tool calls of a message of the assistant, which are history: at most 128, with IDs and names of at most 256 characters.',
        { type: ['array', 'null'] },
      ),
      function_call: limited('The earlier form of a tool call.', { type: ['object', 'null'] }),
      tool_call_id: limited('The tool call that a message of the role `tool` answers.', {
        type: ['string', 'null'],
      }),
    },
    expected('an object'),
  )
  .meta({ id: 'ChatCompletionRequestMessage' });

const responseFormat = z
  .discriminatedUnion(
    'type',
    [
      z.object({ type: z.literal('text').meta({ description: 'Text.' }) }),
      z.object({ type: z.literal('json_object').meta({ description: 'Any JSON object.' }) }),
      z.object({
        type: z.literal('json_schema').meta({ description: 'A JSON object of a schema.' }),
        json_schema: z
          .object({
            schema: anyObject
              .meta({ description: 'JSON Schema of the object.', override: ANY })
              .optional(),
          })
          .meta({ description: 'The schema, with its name.' }),
      }),
    ],
    { error: formatProblem },
  )
  .nullish()
  .meta({
    description:
      'Form of the reply. The schema of `json_schema` is of an object, at most 16 KiB and nested at most 32 levels deep.',
  });

export const completionBody = z
  .object(
    {
      model: modelName,
      messages: listOf(message, MAX_MESSAGES).meta({
        description:
          'The conversation: at most 500 messages, the last one of the user. Messages of the system and the developer become `context.instructions`. In a session, only the last message is sent.',
        examples: [[{ role: 'user', content: 'Hello!' }]],
      }),
      stream: flag.meta({ description: 'Whether to stream the reply. Defaults to `false`.' }),
      stream_options: z
        .object({
          include_usage: flag.meta({
            description: 'Whether a chunk with `usage` precedes the end.',
          }),
        })
        .nullish()
        .meta({ description: 'Options of a stream.' }),
      response_format: responseFormat,
      tool_choice: limited(
        '`none` offers the model no tools in this run; `auto` is the default. Other values are `unsupported_parameter`.',
        { type: ['string', 'null'], enum: ['auto', 'none', null] },
      ),
      metadata: runMetadata.nullish().meta({
        description:
          'JSON object to store with the run, at most 64 KiB and nested at most 32 levels deep. `session_id` names a session, as the header `X-Session-ID`.',
        override: objectOrNull,
      }),
      context: jsonObject.nullish().meta({
        description:
          'JSON object that is passed to the model, nested at most 32 levels deep, with at most 10,000 members and entries. Not a member of OpenAI’s API.',
        override: objectOrNull,
      }),
      n: limited('Only 1.', { type: ['integer', 'null'] }),
      tools: limited('Only an empty list: the tools of the bot run on the server.', {
        type: ['array', 'null'],
      }),
      functions: limited('Only an empty list.', { type: ['array', 'null'] }),
      function_call: limited('As `tool_choice`.', { type: ['string', 'null'] }),
      logprobs: limited('Only `false`.', { type: ['boolean', 'null'] }),
      modalities: limited('Only `text`.', { type: ['array', 'null'] }),
      audio: limited('Not supported.', { type: 'null' }),
      prediction: limited('Not supported.', { type: 'null' }),
      temperature: ignored('number'),
      top_p: ignored('number'),
      max_tokens: ignored('number'),
      max_completion_tokens: ignored('number'),
      stop: ignored('array'),
      seed: ignored('number'),
      user: ignored('string'),
      store: ignored('boolean'),
      reasoning_effort: ignored('string'),
      presence_penalty: ignored('number'),
      frequency_penalty: ignored('number'),
      parallel_tool_calls: ignored('boolean'),
    },
    expected('a JSON object'),
  )
  .meta({ id: 'CreateChatCompletionRequest' });

export type CompletionBody = z.output<typeof completionBody>;

export const usage = z
  .object({
    prompt_tokens: z.int().meta({ description: 'Tokens of the prompts.', examples: [120] }),
    completion_tokens: z.int().meta({ description: 'Tokens of the replies.', examples: [12] }),
    total_tokens: z.int().meta({ description: 'Their sum.', examples: [132] }),
    prompt_tokens_details: z
      .object({ cached_tokens: z.int().meta({ description: 'Tokens that came from a cache.' }) })
      .meta({ description: 'Kinds of tokens of the prompts.', examples: [{ cached_tokens: 0 }] }),
    completion_tokens_details: z
      .object({ reasoning_tokens: z.int().meta({ description: 'Tokens of reasoning.' }) })
      .meta({
        description: 'Kinds of tokens of the replies.',
        examples: [{ reasoning_tokens: 0 }],
      }),
  })
  .meta({ id: 'CompletionUsage', description: 'Tokens of the run.' });

const finishReason = z
  .enum(['stop', 'length', 'content_filter'])
  .meta({ description: 'Why the reply ended.', examples: ['stop'] });

const facts = {
  id: z.string().meta({ description: 'ID of the run.', examples: [exampleId('run')] }),
  created: unixTime,
  model: z.string().meta({ description: 'The model of the request.', examples: ['demo'] }),
};

const fingerprint = z.string().meta({
  description: 'ID of the deployment.',
  examples: [exampleId('dep')],
});

const index = z.literal(0).meta({ description: 'Always 0.' });
const logprobs = z.null().meta({ description: 'Always null.' });

export const completion = z
  .object({
    ...facts,
    object: z.literal('chat.completion').meta({ description: 'Always `chat.completion`.' }),
    choices: z
      .array(
        z.object({
          index,
          message: z
            .object({
              role: z.literal('assistant').meta({ description: 'Always `assistant`.' }),
              content: z.string().meta({ description: 'Text of the reply.', examples: ['Hello!'] }),
              refusal: z.null().meta({ description: 'Always null.' }),
            })
            .meta({ description: 'The reply.' }),
          logprobs,
          finish_reason: finishReason,
        }),
      )
      .meta({ description: 'The reply, as a list of one.' }),
    usage,
    system_fingerprint: fingerprint,
  })
  .meta({ id: 'CreateChatCompletionResponse' });

export const completionChunk = z
  .object({
    ...facts,
    object: z
      .literal('chat.completion.chunk')
      .meta({ description: 'Always `chat.completion.chunk`.' }),
    choices: z
      .array(
        z.object({
          index,
          delta: z
            .object({
              role: z.literal('assistant').optional().meta({ description: 'In the first chunk.' }),
              content: z.string().optional().meta({ description: 'A fragment of the reply.' }),
            })
            .meta({ description: 'What the chunk adds.' }),
          logprobs,
          finish_reason: finishReason.nullable().meta({ description: 'In the last chunk.' }),
        }),
      )
      .meta({ description: 'Empty in the chunk with `usage`.' }),
    usage: usage.nullable().optional().meta({
      description: 'With `include_usage`: null, but for the chunk after the last one.',
    }),
    system_fingerprint: fingerprint.optional(),
  })
  .meta({
    id: 'CreateChatCompletionStreamResponse',
    description: 'A chunk of a streamed reply. `data: [DONE]` follows the last one.',
  });

export type Completion = z.infer<typeof completion>;
export type CompletionChunk = z.infer<typeof completionChunk>;
