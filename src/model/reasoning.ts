import { type JsonObject, jsonObject } from '../text/json.ts';
import { textOrNone } from './wire.ts';

/** Characters kept of the reasoning of one answer. A longer one is counted, but not kept. */
const MAX_KEPT = 1024 * 1024;

/** The members of a message that hold the model's reasoning. A server that wants it back expects it where it put it. */
export const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'reasoning_details'] as const;

/**
 * Collects the reasoning of one answer: the texts of `reasoning_content` (DeepSeek, vLLM) and `reasoning` (OpenRouter,
 * Groq), and the list `reasoning_details` (OpenRouter).
 */
export function collectReasoning() {
  const texts = { reasoning_content: '', reasoning: '' };
  const details: JsonObject[] = [];
  let isSeen = false;
  let kept = 0;
  let characters = 0;

  const addText = (member: keyof typeof texts, text: string) => {
    kept += text.length;
    if (kept <= MAX_KEPT) texts[member] += text;
  };

  const addDetail = (value: unknown) => {
    const { data: detail } = jsonObject.safeParse(value);
    if (!detail) return;
    kept += JSON.stringify(detail).length;
    if (kept > MAX_KEPT) return;
    const last = details.at(-1);
    if (!last || !isContinued(last, detail)) return void details.push({ ...detail });
    const joined = (['text', 'summary'] as const).flatMap((name) =>
      typeof detail[name] === 'string'
        ? [[name, (textOrNone(last[name]) ?? '') + detail[name]]]
        : [],
    );
    Object.assign(last, detail, Object.fromEntries(joined));
  };

  return {
    /** Adds the reasoning of a delta, if it has any. */
    add({ reasoning_content, reasoning, reasoning_details }: JsonObject) {
      const content = textOrNone(reasoning_content);
      const text = textOrNone(reasoning);
      isSeen ||= content !== undefined;
      if (content) addText('reasoning_content', content);
      if (text) addText('reasoning', text);
      // A server that sends both sends the same text twice.
      characters += (content || text || '').length;
      if (Array.isArray(reasoning_details))
        for (const detail of reasoning_details) addDetail(detail);
    },

    /** Counts reasoning that no server wants back. */
    count(text: string) {
      characters += text.length;
    },

    /** The number of characters of reasoning. */
    length: () => characters,

    /** The members to send back with the message; `undefined` if the server sent none, or too much. */
    all(): JsonObject | undefined {
      if (kept > MAX_KEPT || (kept === 0 && !isSeen)) return undefined;
      return {
        // DeepSeek wants an empty text back, too.
        ...(isSeen && { reasoning_content: texts.reasoning_content }),
        // `reasoning_details` hold what `reasoning` holds.
        ...(texts.reasoning && details.length === 0 && { reasoning: texts.reasoning }),
        ...(details.length > 0 && { reasoning_details: details }),
      };
    },
  };
}

/** Whether a detail continues the previous one: the same block, which is streamed as text. */
function isContinued(last: JsonObject, { type, index, text, summary }: JsonObject): boolean {
  const isText = typeof text === 'string' || typeof summary === 'string';
  return isText && type === last.type && index === last.index;
}
