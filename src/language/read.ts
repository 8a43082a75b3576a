import { checkAgent } from './check/agent.ts';
import {
  BUILT_IN_GROUPS,
  type ChannelType,
  type Definition,
  type ToolGroup,
} from './definition.ts';
import { createDiagnostics, type Diagnostic, type Report } from './diagnostic.ts';
import { parseSource } from './parser.ts';
import { type ToolPlace, toolPlaces } from './places.ts';
import { looksLikeSecret } from './secrets.ts';
import { createSource, isTooLarge, MAX_SOURCE_BYTES } from './source.ts';

export type DefinitionReport = {
  /** `null` when there is any error. */
  definition: Definition | null;
  /** In the order of the source; the first one is the first cause. */
  diagnostics: Diagnostic[];
  /** The environment variables that the source names, sorted, each once. */
  envNames: string[];
  /**
   * What the source can call, sorted, without the memory tools: `<group>.<capability>`; of an MCP server
   * `<group>.<tool>` for each tool that `only` names, else `<group>.*`.
   */
  tools: string[];
  /** The channels that the source names, in its order, each once. */
  channels: ChannelType[];
  /** Where the source names servers of tools, and which of their tools, in its order. */
  places: ToolPlace[];
};

export type ReadOptions = {
  /** The variables that have a value. Without them no variable is called unset or unused. */
  envNames?: readonly string[];
};

/**
 * Reads a source of agentlang 5. Whatever the text, it answers, in time that grows with the text's length
 * alone; a source over 256 KiB is not read.
 */
export function readDefinition(input: string, { envNames }: ReadOptions = {}): DefinitionReport {
  const isReadable = !isTooLarge(input);
  const source = createSource(isReadable ? input : '');
  const { report, list, hasErrors } = createDiagnostics(source);
  const env = createEnvUses(envNames, report);
  if (!isReadable) report('source-too-large', 0, `the source is over ${MAX_SOURCE_BYTES} bytes`);

  const parsed = isReadable ? parseSource(source, report) : undefined;
  const checked = parsed && checkAgent(parsed.document.agent, { source, report, useEnv: env.use });
  for (const { text, start } of parsed?.tokens ?? [])
    if (looksLikeSecret(text))
      report('secret-literal', start, 'this looks like a secret, expected env.NAME in its place');

  const isValid = !hasErrors();
  if (isValid) env.reportUnused();
  return {
    definition: (isValid && checked) || null,
    diagnostics: list(),
    envNames: env.names(),
    tools: checked?.tools.flatMap(toolsOf).sort() ?? [],
    channels: [...new Set(checked?.channels.map(({ type }) => type))],
    places: parsed ? toolPlaces(parsed.document.agent, source) : [],
  };
}

/** Which environment variables are used, and what is to be said of them. */
function createEnvUses(given: readonly string[] | undefined, report: Report) {
  const used = new Set<string>();
  return {
    use(name: string, offset: number): void {
      if (given && !used.has(name) && !given.includes(name))
        report('env-unset', offset, `env.${name} has no value in this deployment`);
      used.add(name);
    },
    reportUnused(): void {
      for (const name of new Set(given))
        if (!used.has(name)) report('env-unused', 0, `env.${name} has a value and is never used`);
    },
    names: () => [...used].sort(),
  };
}

/** The names that a group's tools are called by. */
function toolsOf(group: ToolGroup): string[] {
  switch (group.type) {
    case 'http':
      return group.capabilities.map(({ name }) => `${group.name}.${name}`);
    case 'mcp':
      return (group.only ?? ['*']).map((tool) => `${group.name}.${tool}`);
    case 'builtin':
      return BUILT_IN_GROUPS[group.name].map((tool) => `${group.name}.${tool}`);
  }
}
