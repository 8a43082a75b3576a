import { BOUNDS } from '../bounds.ts';
import { BUILT_IN_GROUPS, type BuiltInName, MEMORY_GROUP, type ToolGroup } from '../definition.ts';
import { hint } from '../suggest.ts';
import type { Member } from '../syntax.ts';
import { quote, type Token } from '../token.ts';
import { checkServerTools } from './approvals.ts';
import { checkCapabilities } from './capabilities.ts';
import { checkHeaders } from './headers.ts';
import { checkCount, checkNames, settingsOf } from './names.ts';
import type { Scope } from './templates.ts';
import { addressOf } from './urls.ts';
import { type Check, namesOf } from './values.ts';

const isBuiltIn = (name: string): name is BuiltInName => Object.hasOwn(BUILT_IN_GROUPS, name);

/** The valid tool groups of an agent. */
export function checkTools(
  members: readonly Member[],
  facts: Scope['facts'],
  check: Check,
): ToolGroup[] {
  checkNames(
    members.flatMap((member) => namesOf(member).slice(0, 1)),
    check,
    { max: { count: BOUNDS.groups, what: 'groups of tools' } },
  );
  const capabilities = members.flatMap(({ block }) =>
    block?.name === 'tools' ? block.members.map(({ token }) => token) : [],
  );
  checkCount(capabilities, { count: BOUNDS.capabilities, what: 'capabilities' }, check);
  return members.flatMap((member) => checkGroup(member, facts, check) ?? []);
}

function checkGroup(member: Member, facts: Scope['facts'], check: Check): ToolGroup | undefined {
  const [token] = namesOf(member);
  if (token?.text === MEMORY_GROUP) {
    const message = '"memory" names the memory tools, expected another name';
    check.report('reserved-name', token, message);
  } else if (token && !member.block && !member.damaged && member.form === undefined) {
    return checkBuiltIn(token, check);
  }
  const name = token?.text ?? '';
  if (member.form === 'mcp') return checkServer(name, member, facts, check);
  return { type: 'http', name, capabilities: checkCapabilities(member.block, facts, check) };
}

function checkBuiltIn(token: Token, { report }: Check): ToolGroup | undefined {
  const { text } = token;
  if (isBuiltIn(text)) return { type: 'builtin', name: text };
  report('unknown-group', token, () => {
    const end = hint(text, Object.keys(BUILT_IN_GROUPS));
    return `unknown group ${quote(text)} without a block${end}`;
  });
  return undefined;
}

function checkServer(name: string, member: Member, facts: Scope['facts'], check: Check): ToolGroup {
  const settings = settingsOf(member.block, check);
  return {
    type: 'mcp',
    name,
    url: addressOf(member, check) ?? '',
    headers: checkHeaders(settings.all('header'), { facts, env: true }, check),
    ...checkServerTools(settings, check),
  };
}
