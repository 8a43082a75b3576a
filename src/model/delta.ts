import { isJsonObject, type JsonObject, type JsonValue } from '../text/json.ts';
import { objectOrEmpty, textOrNone } from './wire.ts';

/** The parts of an answer that Parley does not read. */
export type IgnoredPart = 'image' | 'audio' | 'other';

/** The content of a delta, in the forms that servers send it. */
export type Content = { text: string; reasoning: string; ignored: IgnoredPart[] };

/** The choice of a chunk that Parley reads: the one with index 0, or without an index. */
export function choiceOf({ choices }: JsonObject): JsonObject {
  if (!Array.isArray(choices)) return objectOrEmpty(undefined);
  const [first] = choices;
  if (choices.length === 1 && isJsonObject(first) && isFirst(first)) return first;
  return objectOrEmpty(choices.find((choice) => isJsonObject(choice) && isFirst(choice)));
}

function isFirst({ index }: JsonObject): boolean {
  return typeof index !== 'number' || index === 0;
}

/** The delta of a choice. Some servers send a whole message in its place. */
export function deltaOf({ delta, message }: JsonObject): JsonObject {
  return objectOrEmpty(isJsonObject(delta) ? delta : message);
}

/** Reads content that is a list of parts. `thinking` parts (Mistral) are reasoning. */
export function readParts(parts: readonly JsonValue[]): Content {
  const content: Content = { text: '', reasoning: '', ignored: [] };
  for (const part of parts) {
    if (typeof part === 'string') content.text += part;
    if (!isJsonObject(part)) continue;
    const { type } = part;
    if (type === 'text' || type === 'output_text') content.text += textOrNone(part.text) ?? '';
    else if (type === 'thinking') content.reasoning += thinkingOf(part.thinking);
    else content.ignored.push(kindOf(type));
  }
  return content;
}

function thinkingOf(thinking: unknown): string {
  if (!Array.isArray(thinking)) return textOrNone(thinking) ?? '';
  return thinking.map((part) => textOrNone(objectOrEmpty(part).text) ?? '').join('');
}

function kindOf(type: unknown): IgnoredPart {
  if (typeof type !== 'string') return 'other';
  if (type.includes('image')) return 'image';
  return type.includes('audio') ? 'audio' : 'other';
}

/** Media beside the content of a delta: `images` (OpenRouter, LiteLLM) and `audio` (OpenAI). */
export function mediaOf({ images, audio }: JsonObject): readonly IgnoredPart[] {
  if (images === undefined && audio === undefined) return NO_MEDIA;
  const media: IgnoredPart[] = [];
  if (Array.isArray(images) && images.length > 0) media.push('image');
  if (isJsonObject(audio)) media.push('audio');
  return media;
}

const NO_MEDIA: readonly IgnoredPart[] = [];
