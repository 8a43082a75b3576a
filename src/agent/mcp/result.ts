import { z } from 'zod';

/** The result of `tools/call`. The kinds of its content are checked later. */
export const callResult = z.object({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});

export type CallResult = z.infer<typeof callResult>;

const mimeType = z.string().catch('of an unknown type');
const file = { uri: z.string(), mimeType: mimeType.optional() };

/** Converts one content block to text for the model. Source: MCP, "Tool Result". */
const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }).transform(({ text }) => text),
  z
    .object({ type: z.enum(['image', 'audio']), mimeType, data: z.string() })
    .transform(({ type, data, ...of }) => `[${type} ${of.mimeType}, ${sizeOf(data)}]`),
  z
    .object({ type: z.literal('resource_link'), uri: z.string() })
    .transform(({ uri }) => `[resource ${uri}]`),
  z
    .object({ type: z.literal('resource'), resource: z.object({ ...file, text: z.string() }) })
    .transform(({ resource }) => resource.text),
  z
    .object({ type: z.literal('resource'), resource: z.object({ ...file, blob: z.string() }) })
    .transform(
      ({ resource: { uri, blob, ...of } }) =>
        `[resource ${uri} ${of.mimeType ?? 'of an unknown type'}, ${sizeOf(blob)}]`,
    ),
  z.unknown().transform(() => '[content of an unknown kind]'),
]);

function sizeOf(base64: string): string {
  return `${Buffer.byteLength(base64, 'base64')} bytes`;
}

/** Content blocks of a result. */
const MAX_BLOCKS = 256;
/** Characters after which no further block is read. */
const MAX_TEXT = 64 * 1024;
const MAX_DEPTH = 64;
const MORE_NOTE = '[More content was omitted.]';

/**
 * Converts a result to text for the model: its content blocks, preceded by its structured content as JSON if no block is
 * text. It reads the first 256 blocks or 64 Ki characters. It omits structured content nested deeper than 64 levels.
 */
export function textOf({ content, structuredContent }: CallResult): string {
  const blocks = content ?? [];
  const texts: string[] = [];
  let length = 0;
  for (const [index, one] of blocks.entries()) {
    if (index === MAX_BLOCKS || length > MAX_TEXT) {
      texts.push(MORE_NOTE);
      break;
    }
    const text = block.parse(one);
    length += text.length;
    texts.push(text);
  }
  const hasText = blocks.slice(0, MAX_BLOCKS).some(isText);
  if (!hasText && structuredContent !== undefined && structuredContent !== null)
    texts.unshift(jsonOf(structuredContent));
  return texts.join('\n');
}

function isText(one: unknown): boolean {
  return typeof one === 'object' && one !== null && 'type' in one && one.type === 'text';
}

/** Checks the depth first, because `JSON.stringify` recurses and could overflow the stack. */
function jsonOf(value: unknown): string {
  let level = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return '[content that is nested too deeply]';
    level = level.flatMap((one) => (typeof one === 'object' && one ? Object.values(one) : []));
  }
  return JSON.stringify(value);
}
