import { APPROVAL_STATUS_NAMES } from '../../vocabulary/approvals.ts';
import { UsageError } from '../errors.ts';
import { type Command, command } from '../line/definition.ts';
import { BOT, LIMIT, limitOf } from './options.ts';

const APPROVAL_ID = {
  placeholder: 'ID',
  required: true,
  description: 'The ID of the tool call.',
} as const;

const NOTE = {
  value: 'TEXT',
  description: 'A note for the user and the log, at most 2000 characters.',
} as const;

const listCommand = (name: string) =>
  command({
    name,
    group: 'Approvals',
    summary: 'List the tool calls that wait for a person.',
    options: {
      bot: BOT,
      all: { description: 'Also approvals that are decided or have expired.' },
      status: {
        value: 'STATUS',
        choices: APPROVAL_STATUS_NAMES,
        description: 'Only approvals with this status. Defaults to waiting.',
      },
      limit: LIMIT,
    },
    examples: [
      { line: `parley ${name} --bot desk`, description: 'What waits for a decision' },
      { line: `parley ${name} --all --json`, description: 'For a script' },
    ],
    async run(input, context) {
      const given = input.choice('status', APPROVAL_STATUS_NAMES);
      const isAll = input.flag('all');
      if (isAll && given) throw new UsageError('--all and --status exclude each other.');
      const { listApprovals } = await import('../approvals/list.ts');
      const status = isAll ? undefined : (given ?? 'waiting');
      const limit = limitOf(input.text('limit'));
      await listApprovals({ bot: input.text('bot'), status, limit }, context);
    },
  });

export const APPROVALS: readonly Command[] = [
  listCommand('approvals'),
  listCommand('approvals list'),
  command({
    name: 'approvals show',
    group: 'Approvals',
    summary: 'Show the exact request of a call that waits, and its result.',
    arguments: { id: APPROVAL_ID },
    examples: [{ line: 'parley approvals show tcl_01m7', description: 'Read before you decide' }],
    async run(input, context) {
      const { showApproval } = await import('../approvals/show.ts');
      await showApproval(input.required('id'), context);
    },
  }),
  command({
    name: 'approvals approve',
    group: 'Approvals',
    summary: 'Approve a tool call. It is sent once.',
    details: [
      'A decision is final. The same decision again changes nothing, and another one fails.',
    ],
    arguments: { id: APPROVAL_ID },
    options: {
      note: NOTE,
      arguments: {
        value: 'JSON',
        description: 'Arguments in place of all arguments of the model: JSON, or @FILE.',
      },
    },
    examples: [
      { line: 'parley approvals approve tcl_01m7', description: 'Approve what was shown' },
      {
        line: 'parley approvals approve tcl_01m7 --arguments @refund.json',
        description: 'Approve with other arguments',
      },
    ],
    async run(input, context) {
      const { decide } = await import('../approvals/decide.ts');
      const decision = {
        decision: 'APPROVE',
        note: input.text('note'),
        arguments: input.text('arguments'),
      } as const;
      await decide(input.required('id'), decision, context);
    },
  }),
  command({
    name: 'approvals deny',
    group: 'Approvals',
    summary: 'Deny a tool call. It is not sent.',
    arguments: { id: APPROVAL_ID },
    options: { note: NOTE },
    examples: [
      {
        line: 'parley approvals deny tcl_01m7 --note "Too late."',
        description: 'Deny, and tell the user why',
      },
    ],
    async run(input, context) {
      const { decide } = await import('../approvals/decide.ts');
      await decide(input.required('id'), { decision: 'DENY', note: input.text('note') }, context);
    },
  }),
];
