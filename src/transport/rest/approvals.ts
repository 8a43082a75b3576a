import { DecideApproval, ListApprovals, ReadApproval } from '../../generated/operations/rest.ts';
import {
  approvalParams,
  approvalReply,
  approvalsQuery,
  approvalsReply,
  decisionBody,
  toApprovalReply,
} from './approval-wire.ts';
import { route } from './route.ts';
import { botParams, noQuery } from './wire.ts';

/** Routes that list and decide tool calls that wait for a person. Source: docs/rest.md, "Approvals". */
export const approvalRoutes = [
  route({
    method: 'GET',
    path: '/bots/:id/approvals',
    id: 'listApprovals',
    tag: 'Approvals',
    summary: 'List approvals',
    description:
      'Returns the tool calls that wait for a person or that a person has decided, newest first.',
    scope: 'APPROVE',
    errors: [],
    input: { params: botParams, query: approvalsQuery },
    toVariables: ({ params, query: { limit, cursor, status } }) => ({
      variables: { botId: params.id, first: limit, after: cursor, status },
    }),
    json: {
      operation: ListApprovals,
      schema: approvalsReply,
      reply: ({ bot }) => ({
        approvals: bot.approvals.edges.map(({ node }) => toApprovalReply(node)),
        next_cursor: bot.approvals.pageInfo.hasNextPage ? bot.approvals.pageInfo.endCursor : null,
      }),
    },
  }),
  route({
    method: 'GET',
    path: '/bots/:id/approvals/:approval_id',
    id: 'readApproval',
    tag: 'Approvals',
    summary: 'Retrieve an approval',
    description: 'Returns a tool call that waits for a person, or that a person has decided.',
    scope: 'APPROVE',
    errors: ['approval_not_found'],
    input: { params: approvalParams, query: noQuery },
    toVariables: ({ params }) => ({ variables: { botId: params.id, id: params.approval_id } }),
    json: {
      operation: ReadApproval,
      schema: approvalReply,
      reply: ({ approval }) => toApprovalReply(approval),
    },
  }),
  route({
    method: 'POST',
    path: '/bots/:id/approvals/:approval_id/decision',
    id: 'decideApproval',
    tag: 'Approvals',
    summary: 'Decide an approval',
    description:
      'Approves or denies a tool call that waits for a person. A decision is final: the same decision again returns the ' +
      'same, another one fails with `already_decided`. An approved call is sent once, with the variables of the ' +
      'deployment that asked. Then a run tells the user the outcome.',
    scope: 'APPROVE',
    errors: ['approval_not_found', 'already_decided', 'tool_gone'],
    input: { params: approvalParams, query: noQuery, body: decisionBody },
    toVariables: ({ params, body: { decision, note, arguments: replaced } }) => ({
      variables: {
        botId: params.id,
        id: params.approval_id,
        decision,
        note,
        arguments: replaced,
      },
    }),
    json: {
      operation: DecideApproval,
      schema: approvalReply,
      reply: ({ decideApproval }) => toApprovalReply(decideApproval),
    },
  }),
];
