import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { FindRun } from '../../../generated/operations/console.ts';
import { addressOf, ROWS } from '../../screen-addresses.ts';
import { useBotNames } from '../../server/bot-names.ts';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope, useViewer } from '../../server/viewer.ts';
import { environmentQuery, useLinkedEnvironment } from '../environments.ts';
import { useShownBot } from '../shown-bot.ts';
import { endSession } from '../sign-out.ts';
import { chooseTheme, THEMES } from '../theme.ts';
import type { Command } from './command.ts';

const RUN_ID = /^run_[0-9a-z]{26}$/;

/** The commands for a text, and a note on the missing ones. */
export function useCommands(text: string): { commands: Command[]; note: string | undefined } {
  const [, navigate] = useLocation();
  const shown = useShownBot();
  const { apiKey } = useViewer();
  const environment = useLinkedEnvironment();
  const { bots = [], problem } = useBotNames(RUN_ID.test(text) ? '' : text);
  const run = useRun(text);
  const commands = useMemo(() => {
    const open = (id: string, label: string, detail = id): Command => {
      const href = `/bots/${id}`;
      return { id: href, group: 'Bots', icon: 'bot', label, detail, run: () => navigate(href) };
    };
    const openRun = (id: string, bot: string): Command => {
      const href = `/runs/${id}`;
      const label = `A run of ${bot}`;
      return {
        id: href,
        group: 'Runs',
        icon: 'list',
        label,
        detail: id,
        run: () => navigate(href),
      };
    };
    const screens = ROWS.flatMap((row): Command[] => {
      const { name, path, title: label, icon, group, words, needs, needsEveryBot, isPage } = row;
      const isOfBot = group === 'This bot';
      const isRefused =
        (isOfBot && !shown) ||
        (needs && !apiKey.scopes.includes(needs)) ||
        (needsEveryBot && apiKey.bots !== null);
      if (!group || !icon || isRefused) return [];
      const href = addressOf(path, shown) + (isOfBot ? environmentQuery(environment) : '');
      const run = () => (isPage ? window.location.assign(href) : navigate(href));
      const id = isOfBot ? `this:${name}` : href;
      return [{ id, group, icon, label, detail: isOfBot ? shown : undefined, words, run }];
    });
    const isOfBot = ({ group }: Command) => group === 'This bot';
    return [
      ...(run.bot ? [openRun(text, run.bot.name)] : []),
      ...(run.bot ? [open(run.bot.id, `${run.bot.name}, the bot of this run`, text)] : []),
      ...screens.filter(isOfBot),
      ...bots.map(({ id, name }) => open(id, name)),
      ...screens.filter((command) => !isOfBot(command)),
      ...ACTIONS,
    ];
  }, [bots, run.bot, text, shown, environment, apiKey, navigate]);
  return { commands, note: run.note ?? problem?.message };
}

const ACTIONS: Command[] = [
  ...THEMES.map(
    ([name, label]): Command => ({
      id: `theme:${name}`,
      group: 'Theme',
      icon: 'contrast',
      label,
      words: 'dark light colour',
      run: () => chooseTheme(name),
    }),
  ),
  {
    id: 'sign-out',
    group: 'Session',
    icon: 'close',
    label: 'Sign out',
    words: 'leave log out',
    run: () => void endSession(),
  },
];

/** The bot of the run whose id is the text, or why it cannot be found. */
function useRun(text: string): { bot?: { id: string; name: string }; note?: string } {
  const mayRead = useScope('RUNS');
  const isRunId = RUN_ID.test(text);
  const { data, problem } = useServerQuery(FindRun, { id: text }, { pause: !isRunId || !mayRead });
  if (!isRunId) return {};
  if (!mayRead) return { note: lacks('RUNS') };
  if (data?.run?.id === text) return { bot: data.run.bot };
  return { note: problem?.message ?? 'Looking for the run…' };
}
