import type { WholeApprovalFragment } from '../../generated/operations/console.ts';
import { LongText } from '../tool-calls/long-text.tsx';
import '../tool-calls/tool-calls.css';

/** The exact request of a call in words: "POST https://… with {…}". */
export function RequestWords({
  approval: { name, request, arguments: given, editedArguments },
}: {
  approval: Pick<WholeApprovalFragment, 'name' | 'request' | 'arguments' | 'editedArguments'>;
}) {
  const input = editedArguments ?? given;
  const body = request ? request.body : input === null ? null : JSON.stringify(input);
  return (
    <div className="tool-call-details">
      <p className="tool-call-request">
        {request ? (
          <span className="mono">
            <strong>{request.method}</strong> {request.url}
          </span>
        ) : (
          <>
            A call of the tool <strong className="mono">{name}</strong> of an MCP server
          </>
        )}
        {body === null ? ', without a body' : ' with'}
      </p>
      {body !== null && <LongText label="Exact request" text={body} />}
    </div>
  );
}
