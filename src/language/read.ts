import { BOUNDS } from './bounds.ts';
import { checkAgent } from './check/agent.ts';
import { reportLongName } from './check/names.ts';
import {
  BUILT_IN_GROUPS,
  type ChannelType,
  type Definition,
  type ToolGroup,
} from './definition.ts';
import { createDiagnostics, type Diagnostic, type Problem, type Report } from './diagnostic.ts';
import { parseSource } from './parser.ts';
import { type ToolPlace, toolPlaces } from './places.ts';
import { looksLikeSecret } from './secrets.ts';
import { createSource, isTooLarge, MAX_SOURCE_BYTES } from './source.ts';

/** A source that is parsed and checked. */
export type Reading = {
  /** `null` when there is any error. */
  definition: Definition | null;
  /** The environment variables that the source names, sorted, each once. */
  envNames: string[];
  /**
   * What the source can call, sorted, without the memory tools: `<group>.<capability>`; of an MCP server
   * `<group>.<tool>` for each tool that `only` names, else `<group>.*`. Of an invalid source, as much as a valid one
   * could have.
   */
  tools: string[];
  /** The channels that the source names, in its order, each once. */
  channels: ChannelType[];
  /** Where a valid source names servers of tools, and which of their tools, in its order. */
  places: ToolPlace[];
  /**
   * The problems in the order of the source; the first one is the first cause.
   *
   * @param envNames the variables that have a value. Without them no variable is called unset or unused.
   */
  diagnose(envNames?: readonly string[]): Diagnostic[];
};

export type DefinitionReport = Omit<Reading, 'diagnose'> & { diagnostics: Diagnostic[] };

export type ReadOptions = { envNames?: readonly string[] | undefined };

/** A source with its problems, as `readSource` answers them. */
export function readDefinition(input: string, { envNames }: ReadOptions = {}): DefinitionReport {
  const { diagnose, ...read } = readSource(input);
  return { ...read, diagnostics: diagnose(envNames) };
}

/**
 * Reads a source of agentlang 5. Whatever the text, it answers, in time that grows with the text's length
 * alone; a source over 256 KiB is not read.
 */
export function readSource(input: string): Reading {
  const isReadable = !isTooLarge(input);
  const source = createSource(isReadable ? input : '');
  const { report, list, hasErrors } = createDiagnostics(source);
  const env = createEnvUses(report);
  if (!isReadable) report('source-too-large', 0, `the source is over ${MAX_SOURCE_BYTES} bytes`);

  const parsed = isReadable ? parseSource(source, report) : undefined;
  const checked = parsed && checkAgent(parsed.document.agent, { source, report, useEnv: env.use });
  env.checkCount();
  for (const { text, start } of parsed?.tokens ?? [])
    if (looksLikeSecret(text))
      report('secret-literal', start, 'this looks like a secret, expected env.NAME in its place');

  const isValid = !hasErrors();
  return {
    definition: (isValid && checked) || null,
    envNames: env.names(),
    tools: checked ? toolNames(checked.tools) : [],
    channels: [...new Set(checked?.channels.map(({ type }) => type))],
    places: isValid && parsed ? toolPlaces(parsed.document.agent, source) : [],
    diagnose: (envNames) => list(envNames && env.problems(new Set(envNames), isValid)),
  };
}

/** Which environment variables are used, and what is to be said of them. */
function createEnvUses(report: Report) {
  /** Where each one is used first. */
  const used = new Map<string, number>();
  return {
    use(name: string, offset: number): void {
      if (name.length > BOUNDS.longNameLength)
        reportLongName(name, offset, BOUNDS.longNameLength, { report });
      else if (!used.has(name)) used.set(name, offset);
    },
    checkCount(): void {
      const offset = [...used.values()][BOUNDS.variables];
      if (offset === undefined) return;
      const message = `expected at most ${BOUNDS.variables} variables, found ${used.size}`;
      report('too-many', offset, message);
    },
    /** @param reportUnused whether the source is read as a whole, so that what it does not use can be told. */
    problems(given: ReadonlySet<string>, reportUnused: boolean): Problem[] {
      const unset = [...used]
        .filter(([name]) => !given.has(name))
        .map(([name, offset]) => ({
          code: 'env-unset' as const,
          offset,
          message: `env.${name} has no value in this deployment`,
        }));
      if (!reportUnused) return unset;
      const unused = [...given]
        .filter((name) => !used.has(name))
        .map((name) => ({
          code: 'env-unused' as const,
          offset: 0,
          message: `env.${name} has a value and is never used`,
        }));
      return [...unused, ...unset];
    },
    names: () => [...used.keys()].sort(),
  };
}

/** The names that the tools of all groups are called by, sorted. */
function toolNames(groups: readonly ToolGroup[]): string[] {
  const names = groups.slice(0, BOUNDS.groups).flatMap((group) => {
    const name = group.name.slice(0, BOUNDS.nameLength);
    return toolsOf(group).map((tool) => `${name}.${tool.slice(0, BOUNDS.longNameLength)}`);
  });
  return names.sort();
}

function toolsOf(group: ToolGroup): readonly string[] {
  switch (group.type) {
    case 'http':
      return group.capabilities.slice(0, BOUNDS.capabilities).map(({ name }) => name);
    case 'mcp':
      return group.only?.slice(0, BOUNDS.serverTools) ?? ['*'];
    case 'builtin':
      return BUILT_IN_GROUPS[group.name];
  }
}
