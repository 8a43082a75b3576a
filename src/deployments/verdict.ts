import { approversProblem } from '../language/chat-ids.ts';
import type { ParsedSource } from '../language/read.ts';
import type { ChannelReport } from './channels.ts';
import {
  approversWarning,
  channelWarning,
  type DeploymentDiagnostic,
  inOrder,
  listed,
  type ToolServerReport,
  toolWarnings,
} from './diagnostics.ts';
import type { EnvironmentVariables } from './environment.ts';

/** Whether a deploy may activate its source, and its diagnostics in source order. */
export type Verdict = { isDeployable: boolean; diagnostics: DeploymentDiagnostic[] };

/**
 * Decides on a deploy, for the deploy itself and for its check.
 *
 * @param refusals errors that prevent the activation of a valid source.
 * @param reports reports of the source's tool servers, if they were probed.
 * @param channelReports reports of the services of the source's channels, if they were asked.
 */
export function verdictOn({
  parsed,
  variables,
  refusals,
  reports = [],
  channelReports = [],
}: {
  parsed: ParsedSource;
  variables: EnvironmentVariables;
  refusals: DeploymentDiagnostic[];
  reports?: ToolServerReport[];
  channelReports?: ChannelReport[];
}): Verdict {
  const { definition, places } = parsed;
  const diagnostics: DeploymentDiagnostic[] = parsed.diagnose(Object.keys(variables));
  if (definition === null) return { isDeployable: false, diagnostics: inOrder(diagnostics) };
  if (refusals.length > 0)
    return { isDeployable: false, diagnostics: inOrder([...diagnostics, ...listed(refusals)]) };
  const warnings = channelReports.flatMap(({ channel, problem }) =>
    problem === undefined ? [] : channelWarning(channel, problem),
  );
  const problem = approversProblem(definition, variables);
  if (problem !== undefined) warnings.push(approversWarning(problem));
  const toolProblems = toolWarnings(reports, places);
  return {
    isDeployable: true,
    diagnostics: inOrder([
      ...diagnostics.filter((one) => !isRepeated(one, toolProblems)),
      ...warnings,
      ...toolProblems,
    ]),
  };
}

/** Whether the probe of a tool server has already reported its private address. */
function isRepeated({ code, line }: DeploymentDiagnostic, toolProblems: DeploymentDiagnostic[]) {
  return (
    code === 'private-host' &&
    toolProblems.some((problem) => problem.code === 'tools-unavailable' && problem.line === line)
  );
}
