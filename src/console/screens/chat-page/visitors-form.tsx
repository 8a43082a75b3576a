import { useState } from 'react';
import {
  ChangeWebChat,
  WebChat,
  type WebChatQuery,
  type WebChatSettingsFragment,
} from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { SettingsConflict } from '../../parts/settings-conflict.tsx';
import { toast } from '../../parts/toast.tsx';
import { ask, useMutate } from '../../server/operations.ts';
import { detailFor, type Problem } from '../../server/problem.ts';
import { useSettingsDraft } from '../../server/use-settings-draft.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** A bot with the fields that the screen shows. */
export type WebChatBot = NonNullable<WebChatQuery['bot']>;

/** Which pages may contain the chat page, and how much a visitor may do. */
export function VisitorsForm({ bot }: { bot: WebChatBot }) {
  const mayChange = useScope('ADMIN');
  const draft = useSettingsDraft(textsOf(bot), async () => {
    const { data } = await ask(WebChat, { id: bot.id });
    return data?.bot ? textsOf(data.bot) : undefined;
  });
  const { origins, sessions, messages } = draft.values;
  /** The lines that were sent, since the text may change while an error shows. */
  const [sent, setSent] = useState<Line[]>([]);
  const { isBusy, problem, run } = useMutate(ChangeWebChat, ['Bot']);
  const isChanged =
    JSON.stringify(settingsOf(draft.values)) !== JSON.stringify(settingsOf(textsOf(bot)));
  const submit = async () => {
    const texts = await draft.merged();
    if (!texts) return;
    setSent(linesOf(texts.origins));
    const { data } = await run({ id: bot.id, ...settingsOf(texts) });
    if (!data?.updateBot) return;
    draft.reset();
    toast('Saved the settings of visitors.');
  };
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <TextArea
        label={LABELS.origins}
        isMono
        rows={3}
        placeholder="https://shop.example"
        value={origins}
        error={problemsOfOrigins(problem, sent)}
        hint="Their origins, one on each line, or * for every page. Without any, only the chat page itself works."
        onChange={({ target }) => draft.change({ origins: target.value })}
      />
      <div className="chat-settings-limits">
        <Limit
          label={LABELS.sessions}
          value={sessions}
          error={detailFor(problem, 'input.visitorSessionsPerHour')}
          onChange={(value) => draft.change({ sessions: value })}
        />
        <Limit
          label={LABELS.messages}
          value={messages}
          error={detailFor(problem, 'input.visitorMessagesPerMinute')}
          onChange={(value) => draft.change({ messages: value })}
        />
      </div>
      {draft.conflict && (
        <SettingsConflict
          values={Object.entries(draft.conflict).map(([name, value]) => [
            LABELS[name as keyof Texts],
            value,
          ])}
        />
      )}
      {problem && problem.details.length === 0 && (
        <p className="field-error" role="alert">
          {problem.message}
        </p>
      )}
      <div>
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy}
          unavailable={(!mayChange && lacks('ADMIN')) || (!isChanged && 'Nothing has changed.')}
        >
          Save
        </Button>
      </div>
    </form>
  );
}

/** The settings as the texts of their fields. */
type Texts = { origins: string; sessions: string; messages: string };

const LABELS: Texts = {
  origins: 'Pages that may contain the chat',
  sessions: 'New conversations an hour',
  messages: 'Messages a minute',
};

function textsOf(bot: WebChatSettingsFragment): Texts {
  return {
    origins: bot.webOrigins.join('\n'),
    sessions: String(bot.visitorSessionsPerHour),
    messages: String(bot.visitorMessagesPerMinute),
  };
}

function settingsOf({ origins, sessions, messages }: Texts) {
  return {
    webOrigins: linesOf(origins).map(({ text }) => text),
    visitorSessionsPerHour: Number(sessions),
    visitorMessagesPerMinute: Number(messages),
  };
}

function Limit({
  onChange,
  ...field
}: {
  label: string;
  value: string;
  error: string | undefined;
  onChange(value: string): void;
}) {
  return (
    <TextField
      type="number"
      inputMode="numeric"
      required
      min={1}
      max={100_000}
      hint="From one IP address."
      onChange={({ target }) => onChange(target.value)}
      {...field}
    />
  );
}

type Line = { number: number; text: string };

function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .map((line, at) => ({ number: at + 1, text: line.trim() }))
    .filter((line) => line.text !== '');
}

/** The problems of the origins, each with the lines that have it. */
function problemsOfOrigins(problem: Problem | undefined, lines: Line[]): string | undefined {
  const details = problem?.details.filter(({ path }) => path.startsWith('input.webOrigins'));
  if (!details?.length) return undefined;
  return [...Map.groupBy(details, ({ message }) => message)]
    .map(([message, same]) => {
      const numbers = same.flatMap(({ path }) => lines[Number(path.split('.')[2])]?.number ?? []);
      const place = `${numbers.length > 1 ? 'Lines' : 'Line'} ${numbers.join(', ')}`;
      return numbers.length > 0 ? `${place}: ${message}.` : `The list ${message}.`;
    })
    .join(' ');
}
