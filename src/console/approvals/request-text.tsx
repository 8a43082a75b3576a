import type {
  ExactRequestFragment,
  WholeApprovalFragment,
} from '../../generated/operations/console.ts';
import { LongText } from '../tool-calls/long-text.tsx';
import '../tool-calls/tool-calls.css';

/** The call of an approval as it is sent, or would be sent. */
export function shownCall({
  name,
  request,
  arguments: given,
  editedArguments,
}: Pick<WholeApprovalFragment, 'name' | 'request' | 'arguments' | 'editedArguments'>) {
  return { name, request, input: editedArguments ?? given };
}

/** The exact request of a call as text: "POST https://… with {…}". */
export function RequestText({
  call: { name, request, input },
  label = 'Exact request',
}: {
  call: {
    /** The name of the tool. */
    name: string;
    /** Null for a tool of an MCP server. */
    request: ExactRequestFragment | null;
    /** The arguments. Null once they are deleted. */
    input: unknown;
  };
  label?: string;
}) {
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
      {body !== null && <LongText label={label} text={body} />}
    </div>
  );
}
