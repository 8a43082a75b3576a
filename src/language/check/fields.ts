import { BOUNDS } from '../bounds.ts';
import { type Field, type FieldType, SCALARS } from '../definition.ts';
import type { Block, Member, TypeArgument } from '../syntax.ts';
import { checkNames } from './names.ts';
import { type Check, checkText, textOf } from './values.ts';

/** The valid input fields of a capability. */
export function checkInputs(block: Block | undefined, check: Check): Field[] {
  const members = block?.members ?? [];
  const max = { count: BOUNDS.inputs, what: 'inputs of a capability' };
  const fields = checkFields(members, max, check);
  const isDescribed = members.some((member) => mayBeDescribed(member, check));
  if (block && fields.length > 0 && !isDescribed)
    check.report(
      'undescribed-input',
      block.open,
      'no input is described, the model has only their names',
    );
  return fields;
}

/** The valid fields of a structured reply. */
export function checkOutput({ block }: Member, check: Check): Field[] {
  const max = { count: BOUNDS.outputFields, what: 'fields of an output' };
  return checkFields(block?.members ?? [], max, check);
}

function checkFields(
  members: readonly Member[],
  max: { count: number; what: string },
  check: Check,
): Field[] {
  checkNames(
    members.map(({ token }) => token),
    check,
    { max },
  );
  return members.flatMap((member) => checkField(member, check) ?? []);
}

/** Whether a field has a description, or an error before the place of a description. */
function mayBeDescribed(
  { arguments: [, description], damaged, token, headEnd }: Member,
  { source }: Check,
) {
  return description || (damaged && source.text.slice(token.start, headEnd.end).includes('"'));
}

/** field = NAME type [ "?" ] [ STRING ] ; */
function checkField(member: Member, check: Check): Field | undefined {
  const type = member.arguments.find((argument) => argument.kind === 'type');
  if (!type) return undefined;
  const description = textOf(member, check);
  return { name: member.word, type: checkType(type, check), optional: type.optional, description };
}

function checkType({ token, choices, list }: TypeArgument, check: Check): FieldType {
  if (choices.length === 0)
    return { kind: SCALARS.find((name) => name === token.text) ?? 'string', list };
  const max = { count: BOUNDS.choices, what: 'choices of a type' };
  checkNames(choices, check, { max, maxLength: Number.POSITIVE_INFINITY });
  return { kind: 'choice', choices: choices.map((choice) => checkText(choice, check)) };
}
