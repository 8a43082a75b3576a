import { CHANNEL_NAMES } from '../../vocabulary/channels.ts';
import { ENTRANCE_NAMES } from '../../vocabulary/entrances.ts';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { LISTED_KIND_NAMES, RUN_STATUS_NAMES } from '../../vocabulary/runs.ts';
import { UsageError } from '../errors.ts';
import { type Command, command } from '../line/definition.ts';
import { BOT, ENV, LIMIT, limitOf } from './options.ts';

const RUN_ID = { placeholder: 'ID', required: true, description: 'The ID of the run.' } as const;

/** @throws UsageError if the text is no day. */
function dayOf(text: string | undefined): string | undefined {
  if (text === undefined || /^\d{4}-\d\d-\d\d$/.test(text)) return text;
  throw new UsageError('--date must be a day of UTC, such as 2026-11-21.');
}

export const RUNS: readonly Command[] = [
  command({
    name: 'runs',
    group: 'Runs',
    summary: 'List the latest runs of a bot, or follow them.',
    options: {
      bot: BOT,
      env: ENV,
      status: {
        value: 'STATUS',
        choices: RUN_STATUS_NAMES,
        description: 'Only runs with this status.',
      },
      user: { value: 'ID', description: 'Only runs of this session.' },
      channel: {
        value: 'NAME',
        choices: CHANNEL_NAMES,
        description: 'Only runs from this channel.',
      },
      entrance: {
        value: 'NAME',
        choices: ENTRANCE_NAMES,
        description: 'Only runs that clients requested through this interface.',
      },
      kind: {
        value: 'KIND',
        choices: LISTED_KIND_NAMES,
        description: 'Only chats, or only prompts.',
      },
      date: { value: 'DAY', description: 'Only runs of this day of UTC, such as 2026-11-21.' },
      limit: LIMIT,
      follow: { short: 'f', description: 'Keep printing runs as they begin and end.' },
    },
    examples: [
      { line: 'parley runs --bot desk --status failed', description: 'The latest failures' },
      { line: 'parley runs --bot desk --follow', description: 'Watch the runs of a bot' },
      { line: 'parley runs --json | jq .[0].response', description: 'For a script' },
    ],
    async run(input, context) {
      const options = {
        bot: input.text('bot'),
        limit: limitOf(input.text('limit')),
        filter: {
          user: input.text('user'),
          status: input.choice('status', RUN_STATUS_NAMES),
          channel: input.choice('channel', CHANNEL_NAMES),
          entrance: input.choice('entrance', ENTRANCE_NAMES),
          kind: input.choice('kind', LISTED_KIND_NAMES),
          environment: input.choice('env', ENVIRONMENT_NAMES),
          date: dayOf(input.text('date')),
        },
      };
      if (input.flag('follow')) {
        const { followRuns } = await import('../runs/follow.ts');
        return followRuns(options, context);
      }
      const { listRuns } = await import('../runs/list.ts');
      await listRuns(options, context);
    },
  }),
  command({
    name: 'run',
    group: 'Runs',
    summary: 'Show a run with its texts.',
    arguments: { id: RUN_ID },
    examples: [{ line: 'parley run run_01m7', description: 'Show one run' }],
    async run(input, context) {
      const { showRun } = await import('../runs/show.ts');
      await showRun(input.required('id'), context);
    },
  }),
  command({
    name: 'trace',
    group: 'Runs',
    summary: 'Draw the trace of a run.',
    arguments: { id: RUN_ID },
    examples: [{ line: 'parley trace run_01m7', description: 'Where the time of a run went' }],
    async run(input, context) {
      const { showTrace } = await import('../runs/trace.ts');
      await showTrace(input.required('id'), context);
    },
  }),
  command({
    name: 'cancel',
    group: 'Runs',
    summary: 'Cancel a queued or running run.',
    arguments: { id: RUN_ID },
    examples: [{ line: 'parley cancel run_01m7', description: 'Stop one run' }],
    async run(input, context) {
      const { cancelRun } = await import('../runs/cancel.ts');
      await cancelRun(input.required('id'), context);
    },
  }),
];
