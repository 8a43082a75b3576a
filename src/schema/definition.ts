import { definitionSource, envName, listOf, MAX_ENV_VARS } from '../input.ts';
import { formatSource } from '../language/format.ts';
import { type DefinitionReport, readDefinition } from '../language/read.ts';
import { builder } from './builder.ts';
import { ChannelEnum, DiagnosticObject } from './shared.ts';

const DefinitionReportObject = builder
  .objectRef<DefinitionReport & { formatted: () => string | null }>('DefinitionReport')
  .implement({
    description: 'What is to be said of a definition before it is deployed.',
    fields: (t) => ({
      valid: t.boolean({
        description: 'Whether it could be deployed: it has no errors.',
        resolve: ({ definition }) => definition !== null,
      }),
      diagnostics: t.field({
        type: [DiagnosticObject],
        description: 'Errors and warnings in the order of the source.',
        resolve: ({ diagnostics }) => diagnostics,
      }),
      envNames: t.exposeStringList('envNames', {
        description: 'The variables that it refers to, in alphabetical order.',
      }),
      tools: t.exposeStringList('tools', {
        description: 'What it can call: <group>.<capability>, or <group>.* of a whole MCP server.',
      }),
      channels: t.field({
        type: [ChannelEnum],
        resolve: ({ channels }) =>
          channels.map((channel) => (channel === 'web' ? 'WEB' : 'TELEGRAM')),
      }),
      formatted: t.string({
        nullable: true,
        description: 'The same source, laid out evenly; null where its syntax does not allow it.',
        resolve: ({ formatted }) => formatted(),
      }),
    }),
  });

builder.queryField('checkDefinition', (t) =>
  t.field({
    type: DefinitionReportObject,
    description:
      'Reads a definition and says everything that is to be said of it. Deploys nothing. It takes 20 points of work at each place of a document, of the 100 that an operation may take.',
    authScopes: { authenticated: true },
    args: {
      source: t.arg.string({ required: true, validate: { schema: definitionSource } }),
      envNames: t.arg.stringList({
        description:
          'The variables that have a value; without them none is called unset or unused.',
        validate: { schema: listOf(envName, MAX_ENV_VARS) },
      }),
    },
    resolve: (_root, { source, envNames }) => {
      let formatted: { text: string | null } | undefined;
      return {
        ...readDefinition(source, { envNames: envNames ?? undefined }),
        // Once, however many aliases ask for it.
        formatted: () => {
          formatted ??= { text: formatSource(source) };
          return formatted.text;
        },
      };
    },
  }),
);
