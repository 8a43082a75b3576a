import { z } from 'zod';
import { GatewayError } from '../../errors/errors.ts';
import type { Fact } from '../../language/definition.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Memory } from '../../sessions/memory.ts';
import { factValue } from '../../text/input.ts';
import { checkInput, jsonSchemaOf } from './check.ts';
import { OWN_TOOL, type Tool, ToolError } from './tool.ts';

/**
 * `memory.save` and `memory.forget`, for the facts that a definition declares. A definition without facts has neither.
 * A saved fact appears in the prompt from the next message on.
 */
export function createMemoryTools(
  facts: Fact[],
  { memory, sessionKey, redactor }: { memory: Memory; sessionKey: string; redactor: Redactor },
): Tool[] {
  const [first, ...others] = facts.map(({ name }) => name);
  if (first === undefined) return [];
  const about = facts
    .map(({ name, description }) => (description ? `${name}: ${description}` : name))
    .join('; ');
  const name = z.enum([first, ...others]).describe(about);
  const save = z.strictObject({ name, value: factValue.describe('The value to save, as text.') });
  const forget = z.strictObject({ name });
  return [
    {
      name: 'memory.save',
      description: 'Saves a fact about the user for all later conversations.',
      inputSchema: jsonSchemaOf(save),
      ...OWN_TOOL,
      prepare(input) {
        const given = checkInput(save, input);
        // A saved value appears in later prompts and answers, so it is redacted too.
        const fact = checkInput(save, { ...given, value: redactor.redact(given.value) });
        return {
          async send() {
            await memory.save(sessionKey, fact.name, fact.value).catch((error) => {
              throw error instanceof GatewayError ? new ToolError(error.message) : error;
            });
            return { text: 'Saved.' };
          },
        };
      },
    },
    {
      name: 'memory.forget',
      description: 'Forgets a fact about the user.',
      inputSchema: jsonSchemaOf(forget),
      ...OWN_TOOL,
      prepare(input) {
        const fact = checkInput(forget, input);
        return {
          async send() {
            await memory.forget(sessionKey, fact.name);
            return { text: 'Forgotten.' };
          },
        };
      },
    },
  ];
}
