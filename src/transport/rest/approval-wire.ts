import { z } from 'zod';
import type { ApprovalFactsFragment } from '../../generated/operations/rest.ts';
import { decisionArguments, note } from '../../text/input.ts';
import { APPROVAL_STATUS_NAMES, DECISION_NAMES } from '../../vocabulary/approvals.ts';
import { CHANNEL_NAMES } from '../../vocabulary/channels.ts';
import { ENVIRONMENT_NAMES } from '../../vocabulary/environments.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { nextCursor } from './replies.ts';
import { toolCall } from './tool-call-wire.ts';
import { botParams, exampleId, listQuery, NOT_AN_OBJECT, nameOf, oneOf, time } from './wire.ts';

export const approvalParams = botParams.extend({
  approval_id: z
    .string()
    .meta({ description: 'Opaque ID of the tool call.', examples: [exampleId('tcl')] }),
});

export const approvalsQuery = listQuery({
  status: oneOf(...APPROVAL_STATUS_NAMES).meta({
    description: 'Returns only approvals in this state.',
  }),
});

export const decisionBody = z
  .strictObject(
    {
      decision: nameOf(...DECISION_NAMES).meta({
        description: 'The decision. It is final.',
        examples: ['approve'],
      }),
      note: note.optional().meta({
        description: 'Note for the user and the log, at most 2,000 characters.',
        examples: ['Confirmed by phone.'],
      }),
      arguments: decisionArguments.optional().meta({
        description:
          'Arguments in place of all arguments of the model, at most 64 KiB. Only with `approve`.',
        examples: [{ order_id: 'A-1042', amount: 20 }],
      }),
    },
    { error: NOT_AN_OBJECT },
  )
  .meta({ id: 'ApprovalDecision' });

const { arguments: toolArguments, request, name } = toolCall.shape;

/** A tool call that waits for a person, or that a person has decided. */
export const approvalReply = z
  .object({
    id: approvalParams.shape.approval_id,
    name,
    reason: z
      .string()
      .nullable()
      .meta({
        description: 'The sentence of the definition for the person who decides. Null without one.',
        examples: ['A refund is paid out at once.'],
      }),
    arguments: toolArguments,
    edited_arguments: toolArguments.meta({
      description: 'Arguments that the person sent in place of the model. Null if there are none.',
      examples: [null],
    }),
    request: request.meta({
      description: 'The HTTP request that is sent once the call is approved. Null for other tools.',
    }),
    status: z
      .enum(APPROVAL_STATUS_NAMES)
      .meta({ description: 'State. All but `waiting` are final.', examples: ['waiting'] }),
    note: z
      .string()
      .nullable()
      .meta({ description: 'Note of the person who decided.', examples: [null] }),
    environment: z
      .enum(ENVIRONMENT_NAMES)
      .meta({ description: 'Environment of the run that asked.', examples: ['production'] }),
    channel: z
      .enum(CHANNEL_NAMES)
      .meta({ description: 'Channel of the run that asked.', examples: ['api'] }),
    user: z
      .string()
      .nullable()
      .meta({
        description:
          'The end user, identified by the session ID. Null for a run outside any conversation.',
        examples: ['user-1'],
      }),
    run_id: z
      .string()
      .meta({ description: 'ID of the run that asked.', examples: [exampleId('run')] }),
    follow_up_run_id: z
      .string()
      .nullable()
      .meta({ description: 'ID of the run that told the user the outcome.', examples: [null] }),
    decided_by: z
      .string()
      .nullable()
      .meta({ description: 'ID of the API key that decided.', examples: [null] }),
    created_at: time.meta({ description: 'Time of the question.' }),
    expires_at: time.meta({ description: 'Time after which nobody can decide any more.' }),
    decided_at: time
      .nullable()
      .meta({ description: 'Time of the decision or the expiry. Null before that.' }),
  })
  .meta({ id: 'Approval', description: 'A tool call that a person approves or denies.' });

export const approvalsReply = z
  .object({
    approvals: z.array(approvalReply).meta({ description: 'Approvals, newest first.' }),
    next_cursor: nextCursor(),
  })
  .meta({ id: 'ApprovalList' });

/** Maps an approval to its documented form. */
export function toApprovalReply(approval: ApprovalFactsFragment) {
  return {
    id: approval.id,
    name: approval.name,
    reason: approval.reason,
    arguments: approval.arguments,
    edited_arguments: approval.editedArguments,
    request: approval.request,
    status: toLowerCase(approval.status),
    note: approval.note,
    environment: toLowerCase(approval.environment),
    channel: toLowerCase(approval.channel),
    user: approval.user,
    run_id: approval.runId,
    follow_up_run_id: approval.followUpRunId,
    decided_by: approval.decidedById,
    created_at: approval.createdAt.toISOString(),
    expires_at: approval.expiresAt.toISOString(),
    decided_at: approval.decidedAt?.toISOString() ?? null,
  };
}
