import { isJsonObject, type JsonObject } from '../text/json.ts';
import { choiceOf, deltaOf, type IgnoredPart, mediaOf, readParts } from './delta.ts';
import { FilteredAnswer, IncompleteAnswer, ReportedError, SpentAnswer } from './failure.ts';
import type { AnswerBudget, ToolCall, Usage } from './model.ts';
import { joinSurrogates } from './pieces.ts';
import { readProblem } from './problem.ts';
import { collectReasoning } from './reasoning.ts';
import { collectCalls } from './tool-calls.ts';
import { readUsage } from './usage.ts';
import { textOrNone } from './wire.ts';

/** What is known once an answer has ended. */
export type AnswerEnd = {
  /** The rest of the text. */
  text: string;
  calls: ToolCall[];
  /** Why the answer, although it is complete, cannot be used. */
  failure: Error | undefined;
  finish: {
    reason: string;
    model: string | undefined;
    usage: Usage | undefined;
    reasoning: JsonObject | undefined;
    reasoningLength: number | undefined;
    ignored: IgnoredPart[] | undefined;
  };
};

/**
 * Assembles one answer from its chunks. How the chunks divide the answer does not matter. The work is linear in the
 * chunks.
 *
 * @param budget counts the characters of text and tool calls.
 */
export function assembleAnswer(budget: AnswerBudget) {
  const joined = joinSurrogates();
  const calls = collectCalls(budget);
  const reasoning = collectReasoning();
  const ignored = new Set<IgnoredPart>();
  let hasText = false;
  let isRefused = false;
  let reason: string | undefined;
  let isContinued = false;
  let usage: Usage | undefined;
  let model: string | undefined;

  const readContent = (delta: JsonObject): string => {
    const { content, refusal } = delta;
    let text = typeof content === 'string' ? content : '';
    if (Array.isArray(content)) {
      const parts = readParts(content);
      text = parts.text;
      reasoning.count(parts.reasoning);
      for (const kind of parts.ignored) ignored.add(kind);
    }
    if (typeof refusal === 'string' && refusal !== '') {
      isRefused = true;
      text += refusal;
    }
    return text;
  };

  return {
    /**
     * @returns the next text, which may be empty.
     * @throws ReportedError for an error that the server reports; TooLong.
     */
    add(chunk: unknown): string {
      if (!isJsonObject(chunk)) return '';
      const choice = choiceOf(chunk);
      const error = chunk.error || choice.error || (chunk.object === 'error' && chunk);
      if (error) throw new ReportedError(readProblem(error));
      const delta = deltaOf(choice);
      const text = readContent(delta);
      // Some servers send a finish reason with each piece of text.
      isContinued ||= reason !== undefined && (text !== '' || Array.isArray(delta.tool_calls));
      budget.take(0, text.length);
      hasText ||= text.trim() !== '';
      reasoning.add(delta);
      for (const kind of mediaOf(delta)) ignored.add(kind);
      if (Array.isArray(delta.tool_calls)) calls.add(delta.tool_calls);
      reason = finishReasonOf(choice) ?? reason;
      usage = readUsage(chunk, choice) ?? usage;
      model = textOrNone(chunk.model) || model;
      return joined.add(text);
    },

    /** Whether a finish reason has arrived, and nothing of the answer after it. */
    isFinished: () => reason !== undefined && !isContinued,

    /**
     * @param isDone whether the server said that the answer is complete.
     * @throws IncompleteAnswer or ReportedError.
     */
    end(isDone: boolean): AnswerEnd {
      const isUsable = isDone || (hasText && usage !== undefined);
      const ended = isRefused ? 'content_filter' : (reason ?? (isUsable ? 'unknown' : undefined));
      if (ended === undefined) throw new IncompleteAnswer();
      if (ended === 'error') throw new ReportedError({ message: '', names: [], status: undefined });
      const all = calls.all();
      const isFiltered = ended === 'content_filter' && !hasText;
      const isSpent = ended === 'length' && !hasText && all.length === 0;
      return {
        text: joined.end(),
        calls: all,
        failure: isFiltered
          ? new FilteredAnswer()
          : isSpent
            ? new SpentAnswer(usage?.reasoningTokens)
            : undefined,
        finish: {
          reason: ended,
          model,
          usage,
          reasoning: reasoning.all(),
          reasoningLength: reasoning.length() || undefined,
          ignored: ignored.size > 0 ? [...ignored] : undefined,
        },
      };
    },
  };
}

/** Some servers send an empty text or `null` as text until the end. */
function finishReasonOf({ finish_reason: reason }: JsonObject): string | undefined {
  return typeof reason === 'string' && reason !== '' && reason !== 'null' ? reason : undefined;
}
