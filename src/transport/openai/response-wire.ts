import { z } from 'zod';
import { expected, listOf, runMetadata, sessionId, text } from '../../text/input.ts';
import { jsonObject } from '../../text/json.ts';
import { exampleId } from '../rest/wire.ts';
import { message } from './completion-wire.ts';
import { modelName, unixTime } from './model-wire.ts';
import { anyObject, flag, formatProblem, ignored, limited, objectOrNull } from './openai-wire.ts';

const ANY = { type: 'object', additionalProperties: true } as const;

/** Items of one request. */
const MAX_ITEMS = 500;

const item = z
  .object(
    {
      type: limited(
        '`message`, `function_call` or `function_call_output`. Defaults to `message`.',
        { type: ['string', 'null'] },
      ),
      role: message.shape.role.optional(),
      content: message.shape.content,
      call_id: limited('Identifies a call. At most 256 characters.', { type: ['string', 'null'] }),
      name: limited('Name of the tool of a call. At most 256 characters.', {
        type: ['string', 'null'],
      }),
      arguments: limited('Arguments of a call: the text of a JSON object.', {
        type: ['string', 'null'],
      }),
      output: limited('Result of a call.', { type: ['string', 'array', 'null'] }),
    },
    expected('an object'),
  )
  .meta({ id: 'InputItem' });

const format = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('text').meta({ description: 'Text.' }) }),
    z.object({ type: z.literal('json_object').meta({ description: 'Any JSON object.' }) }),
    z.object({
      type: z.literal('json_schema').meta({ description: 'A JSON object of a schema.' }),
      schema: anyObject
        .meta({ description: 'JSON Schema of the object.', override: ANY })
        .optional(),
    }),
  ],
  { error: formatProblem },
);

export const responseParams = z.object({
  response_id: z
    .string()
    .meta({ description: 'ID of the response, which is its run.', examples: [exampleId('run')] }),
});

export const responseQuery = z.object({
  stream: z
    .enum(['true', 'false'], 'must be true or false')
    .optional()
    .meta({ description: 'Whether to stream the events of the response from the first.' }),
  starting_after: z
    .string()
    .regex(/^\d{1,9}$/, 'must be a whole number')
    .transform(Number)
    .optional()
    .meta({
      description:
        'Number of the last event received, of at most 9 digits. Only later events are sent.',
      param: { example: '12' },
    }),
});

export const responseBody = z
  .object(
    {
      model: modelName,
      input: z.union([text, listOf(item, MAX_ITEMS)], 'must be a string or a list of items').meta({
        description:
          'A message, or the items of a conversation: at most 500, the last one a message of the user.',
        examples: ['Hello!'],
      }),
      instructions: text.nullish().meta({
        description:
          'Instructions for this response, beside the prompt of the definition. Only the size of the body limits them.',
      }),
      stream: flag.meta({ description: 'Whether to stream the response. Defaults to `false`.' }),
      background: flag.meta({
        description: 'Whether to queue the run and return immediately. Not in a conversation.',
      }),
      store: flag.meta({
        description: 'Whether the response begins or continues a conversation. Defaults to `true`.',
      }),
      previous_response_id: text.nullish().meta({
        description: 'Response whose conversation to continue.',
        examples: [exampleId('run')],
      }),
      conversation: z
        .union(
          [sessionId, z.object({ id: sessionId.meta({ description: 'Session ID.' }) })],
          'must be a session ID, or an object with one',
        )
        .nullish()
        .meta({
          description:
            'Session ID of the conversation, 1 to 256 visible characters, or an object with it as `id`.',
        }),
      text: z
        .object(
          { format: format.nullish().meta({ description: 'Text, or a JSON object.' }) },
          expected('an object'),
        )
        .nullish()
        .meta({
          description:
            'Form of the reply. The schema of `json_schema` is of an object, at most 16 KiB and nested at most 32 levels deep.',
        }),
      tool_choice: limited('`auto`, or `none` for no tools in this run.', {
        type: ['string', 'null'],
        enum: ['auto', 'none', null],
      }),
      tools: limited('Only an empty list: the tools of the bot run on the server.', {
        type: ['array', 'null'],
      }),
      metadata: runMetadata.nullish().meta({
        description:
          'JSON object to store with a run outside of conversations, at most 64 KiB and nested at most 32 levels deep.',
        override: objectOrNull,
      }),
      context: jsonObject.nullish().meta({
        description:
          'JSON object that is passed to the model, nested at most 32 levels deep, with at most 10,000 members and entries. Not a member of OpenAI’s API.',
        override: objectOrNull,
      }),
      temperature: ignored('number'),
      top_p: ignored('number'),
      max_output_tokens: ignored('number'),
      max_tool_calls: ignored('number'),
      reasoning: ignored('object'),
      truncation: ignored('string'),
      include: ignored('array'),
      parallel_tool_calls: ignored('boolean'),
      user: ignored('string'),
    },
    expected('a JSON object'),
  )
  .meta({ id: 'CreateResponse' });

export type ResponseBody = z.output<typeof responseBody>;
export type ResponseItem = z.output<typeof item>;

const usage = z
  .object({
    input_tokens: z.int().meta({ description: 'Tokens of the prompts.', examples: [120] }),
    input_tokens_details: z
      .object({ cached_tokens: z.int().meta({ description: 'Tokens that came from a cache.' }) })
      .meta({ description: 'Kinds of tokens.', examples: [{ cached_tokens: 0 }] }),
    output_tokens: z.int().meta({ description: 'Tokens of the replies.', examples: [12] }),
    output_tokens_details: z
      .object({ reasoning_tokens: z.int().meta({ description: 'Tokens of reasoning.' }) })
      .meta({ description: 'Kinds of tokens.', examples: [{ reasoning_tokens: 0 }] }),
    total_tokens: z.int().meta({ description: 'Their sum.', examples: [132] }),
  })
  .meta({ id: 'ResponseUsage', description: 'Tokens of the run.' });

const outputText = z
  .object({
    type: z.literal('output_text').meta({ description: 'Always `output_text`.' }),
    text: z.string().meta({ description: 'Text of the reply.', examples: ['Hello!'] }),
    annotations: z.array(z.never()).meta({ description: 'Always empty.', examples: [[]] }),
    logprobs: z.array(z.never()).meta({ description: 'Always empty.', examples: [[]] }),
  })
  .meta({ id: 'OutputTextContent' });

const outputMessage = z
  .object({
    type: z.literal('message').meta({ description: 'Always `message`.' }),
    id: z.string().meta({ description: 'ID of the message.', examples: ['msg_1'] }),
    role: z.literal('assistant').meta({ description: 'Always `assistant`.' }),
    status: z.enum(['in_progress', 'completed', 'incomplete']).meta({ description: 'Its state.' }),
    content: z.array(outputText).meta({ description: 'The parts of the message.' }),
  })
  .meta({ id: 'OutputMessage' });

export const response = z
  .object({
    id: z.string().meta({ description: 'ID of the run.', examples: [exampleId('run')] }),
    object: z.literal('response').meta({ description: 'Always `response`.' }),
    created_at: unixTime,
    status: z
      .enum(['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'])
      .meta({ description: 'State of the run.', examples: ['completed'] }),
    model: z.string().meta({ description: 'The bot.', examples: ['demo'] }),
    output: z.array(outputMessage).meta({ description: 'The reply. Empty until the run ends.' }),
    error: z
      .object({
        code: z.string().meta({ description: 'Error code.', examples: ['model_error'] }),
        message: z.string().meta({ description: 'Human-readable explanation.' }),
      })
      .nullable()
      .meta({ description: 'Why the run failed.' }),
    incomplete_details: z
      .object({
        reason: z
          .enum(['max_output_tokens', 'content_filter'])
          .meta({ description: 'The limit of tokens, or a content filter.' }),
      })
      .nullable()
      .meta({ description: 'Why the reply is incomplete.' }),
    conversation: z
      .object({ id: z.string().meta({ description: 'Session ID.' }) })
      .nullable()
      .meta({ description: 'The conversation. Null for a run outside of any.' }),
    previous_response_id: z.string().nullable().meta({ description: 'As in the request.' }),
    usage: usage.nullable().meta({ description: 'Null until the run ends.' }),
    instructions: z.null().meta({ description: 'Always null.' }),
    metadata: z.object({}).meta({ description: 'Always empty.', examples: [{}] }),
    parallel_tool_calls: z.literal(true).meta({ description: 'Always true.' }),
    tool_choice: z.literal('auto').meta({ description: 'Always `auto`.' }),
    tools: z.array(z.never()).meta({ description: 'Always empty.', examples: [[]] }),
    temperature: z.null().meta({ description: 'Always null.' }),
    top_p: z.null().meta({ description: 'Always null.' }),
  })
  .meta({ id: 'Response' });

export const deletedResponse = z
  .object({
    id: z.string().meta({ description: 'ID of the run.', examples: [exampleId('run')] }),
    object: z.literal('response').meta({ description: 'Always `response`.' }),
    deleted: z.boolean().meta({ description: 'Always true.' }),
  })
  .meta({ id: 'DeletedResponse' });

export const responseEvent = z
  .object({
    type: z.string().meta({ description: 'Kind of the event.', examples: ['response.created'] }),
    sequence_number: z.int().meta({ description: 'Number of the event, from 0.' }),
  })
  .catchall(z.unknown())
  .meta({
    id: 'ResponseStreamEvent',
    description: 'An event of a streamed response, with the members of its kind.',
  });

export type WireResponse = z.infer<typeof response>;
