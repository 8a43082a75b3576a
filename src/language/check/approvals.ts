import { BOUNDS } from '../bounds.ts';
import {
  type Approval,
  DEFAULTS,
  type McpGroup,
  type ServerApproval,
  type ToolLabel,
} from '../definition.ts';
import { hint } from '../suggest.ts';
import type { Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { checkNames, type Settings, settingsOf } from './names.ts';
import {
  type Check,
  checkLabel,
  checkShortText,
  checkText,
  nameOf,
  numberOf,
  type Range,
  stringsOf,
  toolsOf,
} from './values.ts';

const EXPIRES: Range = { min: 60_000, max: 604_800_000, text: '1m to 7d' };

/** "approval" [ STRING ] [ "{" "expires" DURATION "}" ] */
export function checkApproval(member: Member, check: Check): Approval {
  const [sentence] = stringsOf(member);
  const bound = { max: BOUNDS.approvalLength, what: 'sentence of an approval' };
  const settings = settingsOf(member.block, check);
  const expires = settings.read('expires', (setting) => numberOf(setting, EXPIRES, check));
  return {
    reason: sentence ? checkShortText(sentence, bound, check) : null,
    expiresSeconds: expires === undefined ? DEFAULTS.approvalSeconds : Math.round(expires / 1_000),
  };
}

/** Whether `approval` names all tools of a server: `all` without quotes. */
export function isAll({ kind, text }: Token): boolean {
  return kind === 'name' && text === 'all';
}

/** The settings of a server about its tools: `only`, `approval`, `reads`, `repeatable` and `label`. */
export function checkServerTools(
  settings: Settings,
  check: Check,
): Pick<McpGroup, 'only' | 'approvals' | 'reads' | 'repeatable' | 'labels'> {
  const reads = settings.all('reads').flatMap(toolsOf);
  checkEffects(reads, settings.all('repeatable').flatMap(toolsOf), check);
  checkOffered(settings, check);
  return {
    only: settings.read('only', (setting) => checkTools(setting, check)),
    approvals: checkServerApprovals(settings.all('approval'), check),
    reads: settings.read('reads', (setting) => checkTools(setting, check)) ?? [],
    repeatable: settings.read('repeatable', (setting) => checkTools(setting, check)) ?? [],
    labels: checkLabels(settings.all('label'), check),
  };
}

const LIST = { count: BOUNDS.serverTools, what: 'tools of a server' };

/** tool { "," tool } */
function checkTools(member: Member, check: Check): string[] {
  const tools = toolsOf(member);
  checkNames(tools, check, { max: LIST, maxLength: BOUNDS.longNameLength });
  if (member.word !== 'only') refuseAll(tools, check);
  return tools.map((token) => checkText(token, check));
}

function refuseAll(tools: readonly Token[], { report }: Check): void {
  for (const token of tools.filter(isAll))
    report('reserved-name', token, 'only "approval" takes "all", expected names of tools');
}

/** { "label" tool STRING } */
function checkLabels(members: readonly Member[], check: Check): ToolLabel[] {
  const tools = members.flatMap(toolsOf);
  checkNames(tools, check, { max: LIST, maxLength: BOUNDS.longNameLength });
  refuseAll(tools, check);
  return members.flatMap((member) => {
    const [tool] = toolsOf(member);
    const label = checkLabel(member, check);
    return tool && label !== undefined ? [{ tool: checkText(tool, check), label }] : [];
  });
}

/** { "approval" ( "all" | tool { "," tool } ) [ STRING ] [ "{" "expires" DURATION "}" ] } */
function checkServerApprovals(members: readonly Member[], check: Check): ServerApproval[] {
  const tools = members.flatMap(toolsOf);
  checkNames(tools.filter(isAll), check);
  checkNames(
    tools.filter((token) => !isAll(token)),
    check,
    { max: LIST, maxLength: BOUNDS.longNameLength },
  );
  return members.map((member) => ({
    tools: checkApproved(member, check),
    ...checkApproval(member, check),
  }));
}

function checkApproved(member: Member, check: Check): ServerApproval['tools'] {
  const tools = toolsOf(member);
  const [all, last] = [tools.find(isAll), tools.at(-1)];
  if (all && tools.length > 1)
    check.report('reserved-name', all, '"all" covers every tool, write it without other names');
  const isSentence = last?.kind === 'string' && /\S\s+\S/.test(nameOf(last));
  if (isSentence && stringsOf(member).length === 0)
    check.report(
      'invalid-name',
      last,
      'a sentence names no tool, expected "all" or names of tools before it, without a comma',
    );
  const names = tools.map((token) => checkText(token, check));
  return all ? 'all' : names;
}

/** Reports names of tools that `only` does not offer: such a setting would silently have no effect. */
function checkOffered(settings: Settings, { report, mayHide }: Check): void {
  const only = settings.all('only');
  if (only.length === 0 || only.some(({ damaged }) => damaged) || mayHide('only')) return;
  const offered = new Set(only.flatMap(toolsOf).map(nameOf));
  const named = ['approval', 'reads', 'repeatable', 'label'].flatMap((word) => settings.all(word));
  for (const token of named.flatMap(toolsOf)) {
    const name = nameOf(token);
    if (offered.has(name) || isAll(token) || name.trim() === '') continue;
    report('unknown-tool', token, () => `"only" omits ${quote(name)}${hint(name, offered)}`);
  }
}

function checkEffects(
  reads: readonly Token[],
  repeatable: readonly Token[],
  { report }: Check,
): void {
  const reading = new Set(reads.map(nameOf));
  for (const token of repeatable)
    if (reading.has(nameOf(token)))
      report('no-effect', token, () => {
        return `"repeatable" has no effect on ${quote(nameOf(token))}, which is in "reads"`;
      });
}
