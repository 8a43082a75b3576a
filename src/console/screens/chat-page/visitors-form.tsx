import { useState } from 'react';
import {
  ChangeWebChat,
  type WebChatQuery,
  type WebChatSettingsFragment,
} from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { TextArea, TextField } from '../../parts/field.tsx';
import { toast } from '../../parts/toast.tsx';
import { useMutate } from '../../server/operations.ts';
import { detailFor, type Problem } from '../../server/problem.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** A bot with the fields that the screen shows. */
export type WebChatBot = NonNullable<WebChatQuery['bot']>;

/** Which pages may contain the chat page, and how much a visitor may do. */
export function VisitorsForm({ bot }: { bot: WebChatBot }) {
  const mayChange = useScope('ADMIN');
  const [origins, setOrigins] = useState(bot.webOrigins.join('\n'));
  const [sessions, setSessions] = useState(String(bot.visitorSessionsPerHour));
  const [messages, setMessages] = useState(String(bot.visitorMessagesPerMinute));
  /** The lines that were sent, since the text may change while an error shows. */
  const [sent, setSent] = useState<Line[]>([]);
  const { isBusy, problem, run } = useMutate(ChangeWebChat, ['Bot']);
  const settings = {
    webOrigins: linesOf(origins).map(({ text }) => text),
    visitorSessionsPerHour: Number(sessions),
    visitorMessagesPerMinute: Number(messages),
  };
  const isChanged = JSON.stringify(settings) !== JSON.stringify(settingsOf(bot));
  const submit = async () => {
    setSent(linesOf(origins));
    const { data } = await run({ id: bot.id, ...settings });
    if (data?.updateBot) toast('Saved the settings of visitors.');
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
        label="Pages that may contain the chat"
        isMono
        rows={3}
        placeholder="https://shop.example"
        value={origins}
        error={problemsOfOrigins(problem, sent)}
        hint="Their origins, one on each line, or * for every page. Without any, only the chat page itself works."
        onChange={({ target }) => setOrigins(target.value)}
      />
      <div className="chat-settings-limits">
        <Limit
          label="New conversations an hour"
          value={sessions}
          error={detailFor(problem, 'input.visitorSessionsPerHour')}
          onChange={setSessions}
        />
        <Limit
          label="Messages a minute"
          value={messages}
          error={detailFor(problem, 'input.visitorMessagesPerMinute')}
          onChange={setMessages}
        />
      </div>
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

export function settingsOf({
  webOrigins,
  visitorSessionsPerHour,
  visitorMessagesPerMinute,
}: WebChatSettingsFragment) {
  return { webOrigins, visitorSessionsPerHour, visitorMessagesPerMinute };
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
