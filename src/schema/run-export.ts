import type { ExportPart } from '../runs/list/export.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { builder } from './builder.ts';
import { FILTER, RunFilterInput } from './run-filter.ts';

const ExportFormatEnum = builder.enumType('ExportFormat', {
  description: 'Format of a file of runs.',
  values: {
    CSV: {
      description:
        'Comma-separated values (RFC 4180) with a header. A text that a spreadsheet would run as a formula begins with an apostrophe.',
    },
    JSON_LINES: { description: 'One JSON object a line.' },
  } as const,
});

const RunExportPart = builder.objectRef<ExportPart>('RunExportPart').implement({
  description: 'A part of a file of runs. The texts of all parts in order make the file.',
  fields: (t) => ({
    text: t.exposeString('text', { description: 'The next text of the file.' }),
    rows: t.exposeInt('rows', { description: 'Number of runs in the file so far.' }),
    done: t.exposeBoolean('done', {
      description: 'Whether it is the last part. A file without it is incomplete.',
    }),
    truncated: t.exposeBoolean('truncated', {
      description: 'Whether more runs match than a file may have. False until the last part.',
    }),
  }),
});

builder.subscriptionField('runExport', (t) =>
  t.field({
    type: RunExportPart,
    description: `Exports the runs of a bot that match a filter, newest first, as the parts of a file of at most 1,000,000 runs. Unsubscribing ends the export. An account may have 2 exports at a time in each process. ${HIGHEST_PRICE} Requires the scope RUNS.`,
    authScopes: (_root, { botId }) => ({ bot: { id: botId, scope: 'RUNS' } }),
    args: {
      botId: t.arg.id({ required: true, description: 'ID of the bot.' }),
      filter: t.arg({ type: RunFilterInput, description: FILTER }),
      format: t.arg({ type: ExportFormatEnum, required: true, description: 'Format of the file.' }),
    },
    subscribe: (
      _root,
      { botId, filter, format },
      { caller, runExport, signal, longRead, search },
    ) => {
      const accountId = caller().account.id;
      return runExport.start(
        { accountId, botId, filter: filter ?? {}, format },
        { signal, longRead, search },
      );
    },
    resolve: (part) => part,
  }),
);
