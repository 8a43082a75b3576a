import type { Capability } from '../definition.ts';
import type { Block, Member } from '../syntax.ts';
import { quote } from '../token.ts';
import { checkFields } from './fields.ts';
import { checkNames, settingsOf } from './names.ts';
import { checkRequest, METHODS } from './requests.ts';
import type { Scope } from './templates.ts';
import { type Check, isWhole, namesOf, textOf } from './values.ts';

/** The capabilities of a group. */
export function checkCapabilities(
  block: Block | undefined,
  facts: Scope['facts'],
  check: Check,
): Capability[] {
  const members = settingsOf(block, check).all('capability');
  checkNames(members.flatMap(namesOf), check);
  return members.map((member) => checkCapability(member, facts, check));
}

/** capability = "capability" NAME STRING "{" [ "input" "{" { field } "}" ] request "}" ; */
function checkCapability(member: Member, facts: Scope['facts'], check: Check): Capability {
  const { block } = member;
  const [input, ...more] = settingsOf(block, check).all('input');
  const fields = checkFields(input?.block, check);
  const isReadable = isWhole(member) && (!input || isWhole(input)) && more.length === 0;
  const inputs = isReadable ? new Set(fields.map(({ name }) => name)) : 'unknown';
  const request = findRequest(member, input, check);
  return {
    name: namesOf(member)[0]?.text ?? '',
    description: textOf(member, check) ?? '',
    input: fields,
    request: checkRequest(request, { facts, inputs, env: true }, check),
  };
}

/** The one request of a capability, after its input. */
function findRequest(member: Member, input: Member | undefined, check: Check): Member | undefined {
  const [request, ...more] = member.block?.members.filter(({ word }) => METHODS.has(word)) ?? [];
  const { report } = check;
  for (const { word, token } of more)
    if (word !== request?.word)
      report(
        'duplicate-setting',
        token,
        () => `second request ${quote(word)}, a capability makes one`,
      );
  if (request && input && input.token.start > request.token.start)
    report('wrong-order', input.token, '"input" stands before the request');
  if (!request && member.block && !member.block.damaged)
    report(
      'missing-request',
      member.token,
      'the capability makes no request, expected one such as "get"',
    );
  return request;
}
