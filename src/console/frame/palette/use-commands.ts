import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { FindRun } from '../../../generated/operations/console.ts';
import { useBotNames } from '../../server/bot-names.ts';
import { useServerQuery } from '../../server/operations.ts';
import { useStore } from '../../server/store.ts';
import { lacks, useScope, useViewer } from '../../server/viewer.ts';
import { leave } from '../leave.ts';
import { shownBot } from '../shown-bot.ts';
import { chooseTheme, THEMES } from '../theme.ts';
import type { Command } from './command.ts';
import { PAGES } from './pages.ts';

const RUN_ID = /^run_[0-9a-z]{26}$/;

/** The commands for a text, and a note on the missing ones. */
export function useCommands(text: string): { commands: Command[]; note: string | undefined } {
  const [location, navigate] = useLocation();
  const ofRun = useStore(shownBot);
  const [, shown = ofRun] = /^\/bots\/([^/]+)\/./.exec(location) ?? [];
  const { apiKey } = useViewer();
  const { bots = [], problem } = useBotNames(RUN_ID.test(text) ? '' : text);
  const run = useRun(text);
  const commands = useMemo(() => {
    const open = (id: string, label: string, detail = id): Command => {
      const href = `/bots/${id}/playground`;
      return { id: href, group: 'Bots', icon: 'bot', label, detail, run: () => navigate(href) };
    };
    const openPlace = (id: string, { path, label, icon }: (typeof PLACES)[number]): Command => {
      const href = `/bots/${id}/${path}`;
      const run = () => navigate(href);
      return { id: `this:${path}`, group: 'This bot', icon, label, detail: id, run };
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
    const ofBot = shown ? PLACES.map((place) => openPlace(shown, place)) : [];
    const pages = PAGES.filter(
      ({ needs, needsEveryBot }) =>
        (!needs || apiKey.scopes.includes(needs)) && (!needsEveryBot || apiKey.bots === null),
    );
    return [
      ...(run.bot ? [openRun(text, run.bot.name)] : []),
      ...(run.bot ? [open(run.bot.id, `${run.bot.name}, the bot of this run`, text)] : []),
      ...ofBot,
      ...bots.map(({ id, name }) => open(id, name)),
      ...pages.map(
        ({ href, isOutside, ...page }): Command => ({
          ...page,
          id: href,
          run: () => (isOutside ? window.location.assign(href) : navigate(href)),
        }),
      ),
      ...ACTIONS,
    ];
  }, [bots, run.bot, text, shown, apiKey, navigate]);
  return { commands, note: run.note ?? problem?.message };
}

/** The screens of the bot that is open. */
const PLACES = [
  { path: 'playground', label: 'Playground', icon: 'chat' },
  { path: 'runs', label: 'Runs', icon: 'list' },
  { path: 'sessions', label: 'Sessions', icon: 'users' },
  { path: 'deployments', label: 'Deployments', icon: 'layers' },
  { path: 'studio', label: 'Studio', icon: 'edit' },
] as const;

const ACTIONS: Command[] = [
  ...THEMES.map(
    ([name, label]): Command => ({
      id: `theme:${name}`,
      group: 'Theme',
      icon: 'sliders',
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
    run: () => void leave(),
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
