import { formatSource } from '../language/format.ts';
import type { DefinitionReport } from '../language/read.ts';
import { definitionSource, envName, listOf, MAX_ENV_VARS } from '../text/input.ts';
import { HIGHEST_PRICE } from './admission/points.ts';
import { builder } from './builder.ts';
import { ChannelEnum, DiagnosticObject } from './shared.ts';

const DefinitionReportObject = builder
  .objectRef<DefinitionReport & { formatted: () => string | null }>('DefinitionReport')
  .implement({
    description: 'Result of checking a definition.',
    fields: (t) => ({
      valid: t.boolean({
        description: 'Whether the definition has no errors and can be deployed.',
        resolve: ({ definition }) => definition !== null,
      }),
      diagnostics: t.field({
        type: [DiagnosticObject],
        description: 'Errors and warnings, in source order.',
        resolve: ({ diagnostics }) => diagnostics,
      }),
      envNames: t.exposeStringList('envNames', {
        description: 'Environment variables that the definition refers to, in alphabetical order.',
      }),
      tools: t.exposeStringList('tools', {
        description:
          'Tools that the definition can call, as `<group>.<capability>`, or `<group>.*` for every tool of an MCP server.',
      }),
      channels: t.field({
        type: [ChannelEnum],
        description: 'Channels that the definition declares.',
        resolve: ({ channels }) =>
          channels.map((channel) => (channel === 'web' ? 'WEB' : 'TELEGRAM')),
      }),
      formatted: t.string({
        nullable: true,
        description: 'The source in standard format. Null if it has syntax errors.',
        resolve: ({ formatted }) => formatted(),
      }),
    }),
  });

builder.queryField('checkDefinition', (t) =>
  t.field({
    type: DefinitionReportObject,
    description: `Checks a definition without deploying it. ${HIGHEST_PRICE}`,
    authScopes: { authenticated: true },
    args: {
      source: t.arg.string({
        required: true,
        description: 'Source of the definition in agentlang 5, at most 256 KiB.',
        validate: { schema: definitionSource },
      }),
      envNames: t.arg.stringList({
        description:
          'Names of the variables that have a value. Without this list, unset and unused variables are not reported.',
        validate: { schema: listOf(envName, MAX_ENV_VARS) },
      }),
    },
    resolve: async (_root, { source, envNames }, { deployChecks }) => {
      let formatted: { text: string | null } | undefined;
      return {
        ...(await deployChecks.checkSource(source, envNames ?? undefined)),
        // Formats once for all aliases of the field.
        formatted: () => {
          formatted ??= { text: formatSource(source) };
          return formatted.text;
        },
      };
    },
  }),
);
