import { z } from 'zod';
import type { Channel } from '../generated/prisma/client.ts';
import type { McpGroup } from '../language/definition.ts';
import { type Diagnostic, MAX_DIAGNOSTICS } from '../language/diagnostic.ts';
import type { ToolPlace } from '../language/places.ts';
import type { Position } from '../language/source.ts';
import { hint } from '../language/suggest.ts';
import { quote } from '../language/token.ts';
import type { EnvironmentVariables } from './environment.ts';

/** The diagnostics of a deployment: from the language and from the deployment. */
export type DeploymentDiagnostic = Omit<Diagnostic, 'code'> & { code: string };

/** Deployments of earlier versions stored no end. An empty range at the start takes its place. */
const storedDiagnostics = z.array(
  z
    .object({
      severity: z.enum(['ERROR', 'WARNING']),
      code: z.string(),
      message: z.string(),
      line: z.int(),
      column: z.int(),
      endLine: z.int().optional(),
      endColumn: z.int().optional(),
    })
    .transform(({ endLine, endColumn, ...diagnostic }) => ({
      ...diagnostic,
      endLine: endLine ?? diagnostic.line,
      endColumn: endColumn ?? diagnostic.column,
    })),
);

/** Reads the diagnostics of a stored deployment. */
export function readDiagnostics(stored: unknown): DeploymentDiagnostic[] {
  return storedDiagnostics.parse(stored);
}

const HIDDEN_TEST = 'a test failed; its name and its result require the scope DEPLOY';

/** Diagnostics for a reader who may not read the definition: a failed test quotes its expectations and replies. */
export function withoutTests(diagnostics: DeploymentDiagnostic[]): DeploymentDiagnostic[] {
  return diagnostics.map((one) =>
    one.code === 'test-failed' ? { ...one, message: HIDDEN_TEST } : one,
  );
}

/** Sorts diagnostics by their position in the source. */
export function inOrder(diagnostics: DeploymentDiagnostic[]): DeploymentDiagnostic[] {
  return diagnostics.toSorted((one, other) => one.line - other.line || one.column - other.column);
}

/** The most diagnostics of a deployment: diagnostics of the language, refusals or warnings, each with one that counts the rest. */
export const MAX_LISTED = 3 * (MAX_DIAGNOSTICS + 1);

/** The first 100 of a list of errors, and one more that counts the rest. */
export function listed(errors: DeploymentDiagnostic[]): DeploymentDiagnostic[] {
  const shown = errors.slice(0, MAX_DIAGNOSTICS);
  const last = shown.at(-1);
  const count = errors.length - shown.length;
  if (!last || count === 0) return shown;
  const message = `${count} more problems are not listed`;
  return [...shown, { ...last, code: 'too-many-problems', message }];
}

/** The result of probing a tool server: its tools, or a redacted problem. */
export type ToolServerReport =
  | { group: string; tools: string[] }
  | { group: string; problem: string };

/** Probes the servers of groups. It omits servers that only answer with a user's credentials. */
export type ProbeTools = (
  groups: McpGroup[],
  variables: EnvironmentVariables,
) => Promise<ToolServerReport[]>;

const BEGINNING: Position = { line: 1, column: 1, endLine: 1, endColumn: 1 };

/** The warning about a channel that is not connected. @param problem a sentence. */
export function channelWarning(channel: Channel, problem: string): DeploymentDiagnostic {
  const message = `the channel ${channel.toLowerCase()} cannot be connected: ${clause(problem)}`;
  return warning('channel-unavailable', message, BEGINNING);
}

/** The warning about a variable that names no chats for approvals. @param problem a clause. */
export function approversWarning(problem: string): DeploymentDiagnostic {
  const message = `nobody can decide about tool calls in Telegram: ${problem}`;
  return warning('invalid-chat', message, BEGINNING);
}

/** The error about a bot of an outside service that belongs to another bot or environment. */
export function channelClaimed(channel: Channel, by: string): DeploymentDiagnostic {
  const message = `the token of the channel ${channel.toLowerCase()} is already in use by ${by}`;
  return { severity: 'ERROR', code: 'channel-claimed', message, ...BEGINNING };
}

/** An error of a gate about the whole source. @param message a clause. */
export function gateError(code: string, message: string): DeploymentDiagnostic {
  return { severity: 'ERROR', code, message, ...BEGINNING };
}

/** The first 100 warnings about unavailable tool servers and unknown tools. */
export function toolWarnings(
  reports: ToolServerReport[],
  places: ToolPlace[],
): DeploymentDiagnostic[] {
  const warnings: DeploymentDiagnostic[] = [];
  for (const place of places) {
    const report = reports.find(({ group }) => group === place.group);
    const found = report && toolWarning(report, place);
    if (found) warnings.push(found);
    if (warnings.length === MAX_DIAGNOSTICS) break;
  }
  return warnings;
}

function toolWarning(
  report: ToolServerReport,
  { group, tool, ...place }: ToolPlace,
): DeploymentDiagnostic | undefined {
  if ('problem' in report) {
    const message = `the tools of ${group} cannot be connected: ${clause(report.problem)}`;
    return tool === undefined ? warning('tools-unavailable', message, place) : undefined;
  }
  if (tool === undefined || report.tools.includes(tool)) return undefined;
  const names = report.tools.filter((name) => /^[\w./-]+$/.test(name));
  const message = `${group} has no tool ${quote(tool)}${hint(tool, names)}`;
  return warning('tool-unknown', message, place);
}

function warning(code: string, message: string, position: Position): DeploymentDiagnostic {
  return { severity: 'WARNING', code, message, ...position };
}

/** Shortens a sentence to a clause on one line, to embed it in another sentence. */
function clause(sentence: string): string {
  const text = sentence.replaceAll(/\s+/g, ' ').replace(/\.$/, '').slice(0, 200).toWellFormed();
  return `${text.charAt(0).toLowerCase()}${text.slice(1)}`;
}
