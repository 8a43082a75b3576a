import { z } from 'zod';
import { checkInput, jsonSchemaOf } from './check.ts';
import { OWN_TOOL, type Tool } from './tool.ts';

const input = z.strictObject({});

/** `time.now` returns the current time in UTC as ISO 8601. */
export function createTimeTools(now: () => Date): Tool[] {
  return [
    {
      name: 'time.now',
      description: 'The current date and time in UTC, as ISO 8601.',
      inputSchema: jsonSchemaOf(input),
      ...OWN_TOOL,
      prepare(given) {
        checkInput(input, given);
        return { send: async () => ({ text: now().toISOString() }) };
      },
    },
  ];
}
