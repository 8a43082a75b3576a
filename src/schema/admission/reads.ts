import { type DocumentNode, getOperationAST, Kind } from 'graphql';

/** The subscriptions that begin no run. A new one counts as work until it is listed. */
const READS = new Set([
  ...['approvalChanged', 'deploymentChanged', 'evaluationChanged', 'runChanged', 'sessionChanged'],
  ...['runEvents', 'runExport'],
]);

/** Whether an operation only reads: it changes nothing and begins no run. */
export function isRead(document: DocumentNode, operationName: string | null | undefined): boolean {
  const { operation, selectionSet } = getOperationAST(document, operationName) ?? {};
  if (operation !== 'subscription') return operation === 'query';
  return !!selectionSet?.selections.every(
    (selection) => selection.kind === Kind.FIELD && READS.has(selection.name.value),
  );
}
