import type { Capability } from '../definition.ts';
import type { Block, Member } from '../syntax.ts';
import { quote } from '../token.ts';
import { checkApproval } from './approvals.ts';
import { checkInputs } from './fields.ts';
import { checkNames, declaredIn, lacks, type Settings, settingsOf } from './names.ts';
import { checkRequest, METHODS, NO_REQUEST } from './requests.ts';
import type { Scope } from './templates.ts';
import { type Check, checkLabel, namesOf, textOf } from './values.ts';

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

/** capability = "capability" NAME STRING "{" [ "input" "{" { field } "}" ] { "label" STRING | approval | "reads" | "repeatable" } request "}" ; */
function checkCapability(member: Member, facts: Scope['facts'], check: Check): Capability {
  const { block } = member;
  const settings = settingsOf(block, check);
  const inputs = declaredIn(block, 'input', check);
  const scope = { facts, inputs, env: true };
  const requests = block?.members.filter(({ word }) => METHODS.has(word)) ?? [];
  checkOrder(member, requests, settings, check);
  checkEffects(requests[0], settings, check);
  return {
    name: namesOf(member)[0]?.text ?? '',
    description: textOf(member, check) ?? '',
    label: settings.read('label', (label) => checkLabel(label, check)),
    input: settings.read('input', (input) => checkInputs(input.block, check)) ?? [],
    approval: settings.read('approval', (approval) => checkApproval(approval, check)) ?? null,
    reads: settings.all('reads').length > 0,
    repeatable: settings.all('repeatable').length > 0,
    request: requests.map((request) => checkRequest(request, scope, check))[0] ?? NO_REQUEST,
  };
}

/** Checks that there is one request, after the input. */
function checkOrder(
  { block, token }: Member,
  [request, ...more]: readonly Member[],
  settings: Settings,
  check: Check,
): void {
  const { report } = check;
  const [input] = settings.all('input');
  for (const { word, token: second } of more)
    if (word !== request?.word)
      report(
        'duplicate-setting',
        second,
        () => `second request ${quote(word)}, a capability makes one`,
      );
  if (request && input && input.token.start > request.token.start)
    report('wrong-order', input.token, '"input" must come before the request');
  if (block && lacks(block, METHODS.keys(), check))
    report('missing-request', token, 'the capability makes no request, expected one such as "get"');
}

/** Warns of marks that change nothing. */
function checkEffects(request: Member | undefined, settings: Settings, { report }: Check): void {
  const [[reads], [repeatable]] = [settings.all('reads'), settings.all('repeatable')];
  const isGet = request?.word === 'get';
  const because = isGet ? ', a "get" request changes nothing' : ' beside "reads"';
  if (reads && isGet) report('no-effect', reads.token, `"reads" has no effect${because}`);
  if (repeatable && (isGet || reads))
    report('no-effect', repeatable.token, `"repeatable" has no effect${because}`);
}
