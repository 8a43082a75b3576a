import { ApprovalChanges } from '../../generated/operations/console.ts';
import { createUseChanges } from '../server/use-changes.ts';

/** Follows the calls of a bot that wait for approval: new ones, decided ones, and those whose outcome is known. */
export const useApprovalChanges = createUseChanges(ApprovalChanges);
