import { z } from 'zod';
import { expected, listOf, text } from '../../text/input.ts';
import {
  callId,
  historyProblems,
  MAX_CALLS_OF_MESSAGE,
  MAX_HISTORY,
  requestCall,
} from '../../text/request-history.ts';
import { toUpperCase } from '../../vocabulary/names.ts';

const FIELDS = { text: 'content', toolCalls: 'tool_calls', toolCallId: 'tool_call_id' };

const message = z
  .object(
    {
      role: z.enum(['user', 'assistant', 'tool'], 'must be "user", "assistant" or "tool"'),
      content: text.optional(),
      tool_calls: listOf(requestCall, MAX_CALLS_OF_MESSAGE).optional(),
      tool_call_id: callId.optional(),
    },
    expected('an object'),
  )
  .transform(({ role, content, tool_calls, tool_call_id }) => ({
    role: toUpperCase(role),
    text: content,
    toolCalls: tool_calls,
    toolCallId: tool_call_id,
  }));

/** The messages before the prompt of an execute, with the names of GraphQL after parsing. */
export const history = listOf(message, MAX_HISTORY)
  .superRefine((messages, { addIssue }) => {
    for (const { path, message } of historyProblems(messages, FIELDS))
      addIssue({ code: 'custom', path, message });
  })
  .optional()
  .meta({
    description:
      'Messages to send to the model before the prompt, oldest first: at most 500. Only the size of the body limits their texts.',
    override: {
      type: 'array',
      items: {
        type: 'object',
        required: ['role'],
        additionalProperties: true,
        properties: {
          role: {
            type: 'string',
            enum: ['user', 'assistant', 'tool'],
            description: 'Author of the message.',
          },
          content: {
            type: 'string',
            description: 'Text of the message. Optional for the role `assistant`.',
          },
          tool_calls: {
            type: 'array',
            description:
              'Tool calls of a message of the role `assistant`. A message of the role `tool` must follow for each.',
            items: {
              type: 'object',
              required: ['id', 'name', 'arguments'],
              additionalProperties: true,
              properties: {
                id: { type: 'string', description: 'ID of the call.' },
                name: { type: 'string', description: 'Name of the tool.' },
                arguments: { type: 'string', description: 'Text of a JSON object.' },
              },
            },
          },
          tool_call_id: {
            type: 'string',
            description: 'The tool call that a message of the role `tool` answers.',
          },
        },
      },
    },
    examples: [[{ role: 'user', content: 'Hello!' }]],
  });
