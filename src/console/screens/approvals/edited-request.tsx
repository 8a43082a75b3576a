import { useMemo } from 'react';
import {
  ApprovalRequest,
  type WholeApprovalFragment,
} from '../../../generated/operations/console.ts';
import { RequestText } from '../../approvals/request-text.tsx';
import { useServerQuery } from '../../server/operations.ts';
import { useDebounced } from '../../server/use-debounced.ts';

/** The request that a call would send with changed arguments, as the server composes it at each pause in typing. */
export function EditedRequest({
  approval: { id, name },
  botId,
  edited,
}: {
  approval: Pick<WholeApprovalFragment, 'id' | 'name'>;
  botId: string;
  edited: Record<string, unknown>;
}) {
  const asked = useDebounced(JSON.stringify(edited));
  const variables = useMemo(() => {
    const given: Record<string, unknown> = JSON.parse(asked);
    return { id, botId, arguments: given };
  }, [id, botId, asked]);
  const { data, problem } = useServerQuery(ApprovalRequest, variables);
  return (
    <section className="approval-edited" aria-label="Request with the changes" aria-live="polite">
      <h3>Request with the changes</h3>
      {problem && (
        <p className="approval-fault">{problem.details[0]?.message ?? problem.message}</p>
      )}
      {data && !problem && (
        <RequestText
          label="Request with the changes"
          call={{ name, request: data.approvalRequest ?? null, input: variables.arguments }}
        />
      )}
    </section>
  );
}
