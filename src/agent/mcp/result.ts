import { z } from 'zod';

/** The result of `tools/call`, whatever kinds of content it has. */
export const callResult = z.object({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});

export type CallResult = z.infer<typeof callResult>;

const mimeType = z.string().catch('of an unknown type');
const file = { uri: z.string(), mimeType: mimeType.optional() };

/** One piece of content as a model gets to read it. Source: MCP, "Tool Result". */
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

/** What a model gets to read of a result: its texts, or where it has none its structure as JSON. */
export function textOf({ content, structuredContent }: CallResult): string {
  const blocks = content ?? [];
  const texts = blocks.map((one) => block.parse(one));
  const hasText = blocks.some(
    (one) => z.object({ type: z.literal('text') }).safeParse(one).success,
  );
  if (!hasText && structuredContent !== undefined && structuredContent !== null)
    texts.unshift(JSON.stringify(structuredContent));
  return texts.join('\n');
}
