import type { AgentTest } from './agent-test.ts';
import { BOUNDS } from './bounds.ts';
import { checkAgent } from './check/agent.ts';
import { reportLongName } from './check/names.ts';
import { checkSecrets } from './check/secrets.ts';
import { checkTests } from './check/tests.ts';
import type { Check } from './check/values.ts';
import {
  BUILT_IN_GROUPS,
  type ChannelType,
  type Definition,
  type ToolGroup,
} from './definition.ts';
import {
  createDiagnostics,
  type Diagnostic,
  type Problem,
  type Report,
  WHOLE_SOURCE,
} from './diagnostic.ts';
import { type Parsed, parseSource } from './parser.ts';
import { type ToolPlace, toolPlaces } from './places.ts';
import {
  createSource,
  isTooLarge,
  MAX_SOURCE_BYTES,
  type Source,
  type SourceRange,
} from './source.ts';

/** A parsed and checked source. */
export type ParsedSource = {
  /** `null` if there is an error. */
  definition: Definition | null;
  /** The environment variables that the source names, sorted, without repeats: for an invalid source at most 200. */
  envNames: string[];
  /**
   * The tools of the source, sorted, without the memory tools: `<group>.<capability>`; for an MCP server `<group>.<tool>`
   * for each tool in `only`, or else `<group>.*`. For an invalid source, the list has the bounds of a valid one.
   */
  tools: string[];
  /** The channels of the source, in source order, without repeats. */
  channels: ChannelType[];
  /** The tests of a valid source, in source order. They are apart from the definition, which runs keep in memory. */
  tests: AgentTest[];
  /** The positions of MCP groups and their tools in a valid source, in source order. */
  places: ToolPlace[];
  /**
   * Lists the problems in source order.
   *
   * @param envNames the variables that have a value. If omitted, no variable is reported as unset or unused.
   */
  diagnose(envNames?: readonly string[]): Diagnostic[];
};

export type DefinitionReport = Omit<ParsedSource, 'diagnose'> & { diagnostics: Diagnostic[] };

export type SourceOptions = {
  /**
   * Whether tools may not call the host of a URL, because it is a private address that the operator has not allowed. Plain
   * HTTP to an allowed loopback address is no warning. Absent: only the server knows it, so that no private address gets a
   * warning, and no loopback address the warning about plain HTTP.
   */
  isBlocked?: ((url: URL) => boolean) | undefined;
  /**
   * Whether the source was deployed before, perhaps in a version without these bounds: texts and suggestions of the chat
   * page that exceed them are cut. Otherwise, they are errors.
   */
  isDeployed?: boolean;
};

export type ReadOptions = SourceOptions & { envNames?: readonly string[] | undefined };

/** Reads a source and lists its problems. See `readSource`. */
export function readDefinition(
  input: string,
  { envNames, ...options }: ReadOptions = {},
): DefinitionReport {
  const { diagnose, ...read } = readSource(input, options);
  return { ...read, diagnostics: diagnose(envNames) };
}

/**
 * Parses and checks a source of agentlang 5. It accepts any text and never throws. The time is bounded by the length of
 * the text. A source over 256 KiB is reported but not parsed.
 */
export function readSource(input: string, options?: SourceOptions): ParsedSource {
  return parseInput(input, options).check();
}

/** A source whose syntax was read. */
export type ParsedInput = {
  source: Source;
  /** Undefined without an agent of this version of the language. */
  parsed: Parsed | undefined;
  /** Checks the values when it is first called. */
  check(): ParsedSource;
};

/** The first half of `readSource`, for an editor, which shows the syntax of a text before it checks the values. */
export function parseInput(
  input: string,
  { isBlocked, isDeployed = false }: SourceOptions = {},
): ParsedInput {
  const isReadable = !isTooLarge(input);
  const source = createSource(isReadable ? input : '');
  const diagnostics = createDiagnostics(source);
  const { report } = diagnostics;
  if (!isReadable)
    report('source-too-large', WHOLE_SOURCE, `the source is over ${MAX_SOURCE_BYTES} bytes`);

  const parsed = isReadable ? parseSource(source, report) : undefined;
  let checked: ParsedSource | undefined;
  const check = () => {
    checked ??= checkParsed({ source, parsed }, diagnostics, { isBlocked, isDeployed });
    return checked;
  };
  return { source, parsed, check };
}

function checkParsed(
  { source, parsed }: Pick<ParsedInput, 'source' | 'parsed'>,
  { report, list, hasErrors }: ReturnType<typeof createDiagnostics>,
  options: Pick<Check, 'isBlocked' | 'isDeployed'>,
): ParsedSource {
  const env = createEnvUses(report);
  const check = parsed && {
    source: parsed.source,
    report,
    mayHide: parsed.document.mayHide,
    useEnv: env.use,
    ...options,
  };
  const checked = check && checkAgent(parsed.document.agent, check);
  const tests = check && checked ? checkTests(parsed.document.agent, checked, check) : [];
  env.checkCount();
  if (parsed) checkSecrets(parsed, report);

  const isValid = !hasErrors();
  return {
    definition: (isValid && checked) || null,
    envNames: env.names(),
    tools: checked ? toolNames(checked.tools) : [],
    channels: [...new Set(checked?.channels.map(({ type }) => type))],
    tests: isValid ? tests : [],
    places: isValid && parsed ? toolPlaces(parsed.document.agent, source) : [],
    diagnose: (envNames) => list(envNames && env.problems(new Set(envNames), isValid)),
  };
}

/** Collects the uses of environment variables, and reports problems with them. */
function createEnvUses(report: Report) {
  /** The first use, by name. */
  const used = new Map<string, SourceRange>();
  return {
    use(name: string, { start, end }: SourceRange): void {
      if (name.length > BOUNDS.longNameLength)
        reportLongName(name, { start, end }, BOUNDS.longNameLength, { report });
      else if (!used.has(name)) used.set(name, { start, end });
    },
    checkCount(): void {
      const extra = [...used.values()][BOUNDS.variables];
      if (extra === undefined) return;
      const message = `expected at most ${BOUNDS.variables} variables, found ${used.size}`;
      report('too-many', extra, message);
    },
    /** @param reportUnused whether the source is valid, so that all uses are known. */
    problems(given: ReadonlySet<string>, reportUnused: boolean): Problem[] {
      const unset = [...used]
        .filter(([name]) => !given.has(name))
        .map(([name, range]) => ({
          code: 'env-unset' as const,
          range,
          message: `env.${name} has no value in this deployment`,
        }));
      if (!reportUnused) return unset;
      const unused = [...given]
        .filter((name) => !used.has(name))
        .map((name) => ({
          code: 'env-unused' as const,
          range: WHOLE_SOURCE,
          message: `env.${name} has a value and is never used`,
        }));
      return [...unused, ...unset];
    },
    names: () => [...used.keys()].sort().slice(0, BOUNDS.variables),
  };
}

/** The full names of the tools of all groups, sorted. */
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
