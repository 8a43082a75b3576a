import { useMemo } from 'react';
import { useLocation } from 'wouter';
import { BotNames, FindRun } from '../../../operations/console/operations.ts';
import type { IconName } from '../../parts/icon.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { leave } from '../leave.ts';
import { chooseTheme, THEMES } from '../theme.ts';
import type { Command } from './command.ts';

/** Bots that the palette lists. Others are found by their whole id. */
const MOST_BOTS = 100;

const RUN_ID = /^run_[0-9a-z]{26}$/;
const BOT_ID = /^[\w-]{1,64}$/;

/** The commands for a text, and a note on what is missing among them. */
export function useCommands(text: string): { commands: Command[]; note: string | undefined } {
  const [, navigate] = useLocation();
  const isAdmin = useScope('ADMIN');
  const isOperator = useScope('OPERATOR');
  const bots = useServerQuery(BotNames, { first: MOST_BOTS, after: null });
  const run = useRun(text);
  const commands = useMemo(() => {
    const page = (
      group: string,
      icon: IconName,
      label: string,
      href: string,
      words?: string,
    ): Command => ({
      id: href,
      group,
      icon,
      label,
      ...(words && { words }),
      run: () => navigate(href),
    });
    const reference = (icon: IconName, label: string, href: string): Command => ({
      ...page('Reference', icon, label, href),
      run: () => location.assign(href),
    });
    const { edges = [], pageInfo } = bots.data?.bots ?? {};
    const open = (id: string, name: string): Command => ({
      ...page('Bots', 'bot', name, `/bots/${id}/playground`),
      detail: id,
    });
    const listed = edges.map(({ node }) => open(node.id, node.name));
    const isUnlisted = pageInfo?.hasNextPage && edges.every(({ node }) => node.id !== text);
    return [
      ...(run.bot
        ? [{ ...open(run.bot.id, `${run.bot.name}, the bot of this run`), detail: text }]
        : []),
      ...listed,
      ...(isUnlisted && BOT_ID.test(text) ? [open(text, `Open the bot ${text}`)] : []),
      page('Go to', 'list', 'Bots', '/bots', 'list'),
      ...(isAdmin ? [page('Go to', 'plus', 'New bot', '/bots/new', 'create')] : []),
      page('Settings', 'user', 'Account', '/settings', 'plan limits'),
      page('Settings', 'list', 'Usage', '/settings/usage', 'tokens requests limits'),
      ...(isAdmin
        ? [
            page('Settings', 'sliders', 'API keys', '/settings/keys', 'rotate revoke'),
            page('Settings', 'plus', 'New API key', '/settings/keys/new', 'create'),
            page('Settings', 'list', 'Audit log', '/settings/audit', 'history'),
          ]
        : []),
      ...(isOperator
        ? [
            page('Settings', 'user', 'Accounts', '/settings/accounts', 'plans operator'),
            page('Settings', 'plus', 'New account', '/settings/accounts/new', 'create operator'),
          ]
        : []),
      page('Settings', 'sliders', 'Server', '/settings/server', 'version database redis health'),
      reference('book', 'REST API', '/docs'),
      reference('code', 'GraphiQL', '/graphql'),
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
      } satisfies Command,
    ];
  }, [bots.data, run.bot, text, isAdmin, isOperator, navigate]);
  return { commands, note: run.note ?? bots.problem?.message };
}

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
