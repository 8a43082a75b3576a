import { MakeDecision } from '../../generated/operations/command.ts';
import type { Context } from '../context.ts';
import { readSourceFile } from '../definitions/source-file.ts';
import { Refusal, UsageError } from '../errors.ts';
import { connect } from '../server/connection.ts';
import { approvalOf } from './approval.ts';

type Decision = {
  decision: 'APPROVE' | 'DENY';
  note: string | undefined;
  /** JSON, or `@` and the path of a file with JSON. */
  arguments?: string | undefined;
};

/** Decides on a call that waits. A decision is final. */
export async function decide(
  id: string,
  { decision, note, arguments: given }: Decision,
  context: Context,
): Promise<void> {
  const { print, signal } = context;
  const replaced = given === undefined ? undefined : await readArguments(given, context);
  const { graphql } = await connect(context);
  const variables = { id, decision, note, ...(replaced && { arguments: replaced }) };
  const { decideApproval } = await graphql.run(MakeDecision, variables, signal);
  if (!decideApproval) throw new Refusal('The server returned no approval.');
  const approval = approvalOf(decideApproval);
  await print(approval, () =>
    decision === 'APPROVE'
      ? `Approved ${approval.name}. It is sent once. See its result: parley approvals show ${id}`
      : `Denied ${approval.name}. It is not sent.`,
  );
}

/** @throws UsageError if the text is no JSON object. @throws Refusal if the file cannot be read. */
async function readArguments(given: string, { terminal }: Context): Promise<object> {
  const isFile = given.startsWith('@');
  const text = isFile ? (await readSourceFile(given.slice(1), terminal.stdin)).text : given;
  const value = parsed(text);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const source = isFile ? given.slice(1) : '--arguments';
  throw new UsageError(`${source} must be a JSON object, such as {"amount": 5}.`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
