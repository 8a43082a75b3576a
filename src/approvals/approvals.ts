import { isDeepStrictEqual } from 'node:util';
import type { ApprovedCalls, ReadyCall } from '../agent/approved-calls.ts';
import { schemaOfFields } from '../agent/tools/input.ts';
import type { FollowNotices, Notice } from '../coordination/notices.ts';
import type { PubSub } from '../coordination/pubsub.ts';
import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import { GatewayError, invalidInput, notFound } from '../errors/errors.ts';
import type { Approval, PrismaClient } from '../generated/prisma/client.ts';
import { partsOfToolName } from '../language/tool-names.ts';
import { approvalsChannel, readValues, WORK_CHANNEL } from '../runs/tool-calls/ask.ts';
import { digestOf, type ToolRequest } from '../runs/tool-calls/tool-call.ts';
import type { JsonObject } from '../text/json.ts';
import type { Decider, Decision } from './decision.ts';
import { recordDecision } from './record-decision.ts';

/** A tool by its name, `<group>.<capability>`, in a deployment. */
type ToolOfDeployment = Pick<Approval, 'deploymentId' | 'name'>;

/** Deployments whose definitions are in memory together. */
const BATCH = 8;

/** Decisions on tool calls that wait for a person. Source: "Approvals" in `docs/agents-that-act.md`. */
export type Approvals = {
  /**
   * Decides on a call. A decision is final. The same decision again returns the same.
   *
   * @param id the id of the tool call. The caller must check that it belongs to a bot that the decider may use.
   * @param signal aborts the preparation of an approved call.
   * @throws GatewayError `approval_not_found`; `already_decided` if another decision was made, or if it expired;
   *   `tool_gone` if an approved call can no longer be made; `invalid_request` if the arguments do not fit the
   *   declaration of the tool.
   */
  decide(id: string, decision: Decision, decider: Decider, signal: AbortSignal): Promise<Approval>;
  /**
   * Composes the request that a call would send with other arguments. Nothing is sent.
   *
   * @returns the request without values of variables; null for a tool of a server.
   * @throws GatewayError `tool_gone` if the deployment or its tool is gone; `invalid_request` if the arguments do not fit
   *   the declaration of the tool.
   */
  requestWith(
    approval: Pick<Approval, 'deploymentId' | 'name' | 'values'>,
    edited: JsonObject,
    signal: AbortSignal,
  ): Promise<ToolRequest | null>;
  /**
   * The JSON Schemas of the arguments of tools, in the order of the tools. Null for a tool of a server, and if the
   * deployment is gone or not valid in this version of Parley.
   */
  inputSchemasOf(tools: ToolOfDeployment[]): Promise<(JsonObject | null)[]>;
  /** Notifies subscribers that a call waits, was decided or was sent. */
  notify(approval: Pick<Approval, 'id' | 'botId'>): void;
  /** Yields a notice with the id of each of the bot's approvals that changes, until the signal aborts. */
  follow(botId: string, signal: AbortSignal): AsyncIterable<Notice>;
};

export function createApprovals({
  prisma,
  pubsub,
  followNotices,
  activeDeployments,
  approvedCalls,
}: {
  prisma: PrismaClient;
  pubsub: PubSub;
  followNotices: FollowNotices;
  activeDeployments: Pick<ActiveDeployments, 'find' | 'loadAll' | 'loadValid'>;
  approvedCalls: ApprovedCalls;
}): Approvals {
  const notify: Approvals['notify'] = ({ id, botId }) =>
    pubsub.publish(approvalsChannel(botId), id);

  /** @throws GatewayError `tool_gone` if the bot's active deployment no longer has the tool. */
  const assertOffered = async ({ botId, environment, name }: Approval) => {
    const active = await activeDeployments.find(botId, environment).catch((error) => {
      if (error instanceof GatewayError && error.code === 'bot_not_deployed') return undefined;
      throw error;
    });
    if (active && offers(active, name)) return;
    const message = `The active deployment of the bot has no tool "${name}" any more. The call can only be denied.`;
    throw new GatewayError('tool_gone', message);
  };

  /** Prepares the call with some arguments, the text of a JSON object. */
  const ready = (
    { name, values }: Pick<Approval, 'name' | 'values'>,
    deployment: RunningDeployment,
    text: string,
    signal: AbortSignal,
  ): Promise<ReadyCall> => {
    const call = { deployment, name, arguments: text, values: readValues(values) };
    return approvedCalls.prepare(call, signal);
  };

  /** Prepares what is about to be approved. @returns the call as it will be sent. */
  const prepare = async (
    approval: Approval,
    edited: string | undefined,
    signal: AbortSignal,
  ): Promise<ReadyCall> => {
    await assertOffered(approval);
    const deployment = await deploymentOf(activeDeployments, approval);
    const shown = await ready(approval, deployment, approval.arguments ?? '{}', signal);
    if (!isBoundTo(shown, approval)) {
      const message =
        'The request is no longer the one that was shown. The call can only be denied.';
      throw new GatewayError('tool_gone', message);
    }
    if (edited === undefined) return shown;
    // They are stored and shown as they are.
    if (deployment.redactor.redact(edited) !== edited)
      throw invalidInput([{ path: 'arguments', message: 'must not hold the value of a variable' }]);
    // No argument can change the host: the language allows only variables before the path of a URL.
    return ready(approval, deployment, edited, signal);
  };

  return {
    notify,

    async requestWith(approval, edited, signal) {
      const deployment = await deploymentOf(activeDeployments, approval);
      if (placeOf(deployment, approval.name).group?.type === 'mcp') return null;
      const { request } = await ready(approval, deployment, JSON.stringify(edited), signal);
      return request;
    },

    async inputSchemasOf(tools) {
      const toolsOf = Map.groupBy(tools, ({ deploymentId }) => deploymentId);
      const ids = [...toolsOf.keys()];
      const schemas = new Map<ToolOfDeployment, JsonObject | null>();
      for (let start = 0; start < ids.length; start += BATCH) {
        const deployments = await activeDeployments.loadValid(ids.slice(start, start + BATCH));
        for (const [id, deployment] of deployments)
          for (const tool of toolsOf.get(id) ?? [])
            schemas.set(tool, inputSchemaOf(deployment, tool.name));
      }
      return tools.map((tool) => schemas.get(tool) ?? null);
    },

    follow: (botId, signal) => followNotices(approvalsChannel(botId), signal),

    async decide(id, { decision, note, arguments: replaced }, decider, signal) {
      const approval = await prisma.approval.findUnique({ where: { id } });
      if (!approval) throw notFound('approval', id);
      const edited = replaced && JSON.stringify(replaced);
      const isApproved = decision === 'APPROVE';
      // The database's clock decides whether it has expired.
      const isOpen = approval.status === 'WAITING';
      if (edited !== undefined && !isApproved)
        throw invalidInput([{ path: 'arguments', message: 'must be absent with DENY' }]);
      const ready = isApproved && isOpen ? await prepare(approval, edited, signal) : undefined;
      const made = { status: isApproved ? ('APPROVED' as const) : ('DENIED' as const), note };
      const replacement = ready && edited !== undefined ? { edited, ready } : undefined;
      const isMade = isOpen && (await recordDecision(prisma, approval, made, replacement, decider));
      const stored = await prisma.approval.findUnique({ where: { id } });
      if (!stored) throw notFound('approval', id);
      if (isMade) {
        notify(stored);
        pubsub.publish(WORK_CHANNEL, '');
        return stored;
      }
      const isSame =
        stored.status === made.status &&
        (replaced === undefined || isEqualObject(stored.editedArguments, replaced));
      if (isSame) return stored;
      throw alreadyDecided(stored);
    },
  };
}

/** Whether a call is the one that the approval stores: its digest, and the request that a person was shown. */
export function isBoundTo(
  { digest, request }: Pick<ReadyCall, 'digest' | 'request'>,
  approval: Pick<Approval, 'digest' | 'request'>,
): boolean {
  return digest === approval.digest && isDeepStrictEqual(request, approval.request);
}

/** @throws GatewayError `tool_gone` if the deployment that asked no longer exists. */
export async function deploymentOf(
  { loadAll }: Pick<ActiveDeployments, 'loadAll'>,
  { deploymentId }: Pick<Approval, 'deploymentId'>,
): Promise<RunningDeployment> {
  const deployment = (await loadAll([deploymentId])).get(deploymentId);
  if (deployment) return deployment;
  throw new GatewayError('tool_gone', 'The deployment that asked for approval no longer exists.');
}

/** Whether a definition has a tool. A tool server's own list is read when the call is prepared. */
function offers(deployment: RunningDeployment, name: string): boolean {
  const { group, tool } = placeOf(deployment, name);
  if (group?.type === 'http') return group.capabilities.some((one) => one.name === tool);
  return group?.type === 'mcp' && (group.only?.includes(tool) ?? true);
}

function inputSchemaOf(deployment: RunningDeployment, name: string): JsonObject | null {
  const { group, tool } = placeOf(deployment, name);
  if (group?.type !== 'http') return null;
  const capability = group.capabilities.find((one) => one.name === tool);
  return capability ? schemaOfFields(capability.input) : null;
}

/** Whether the text of a JSON object has this value, in any order of its members. */
function isEqualObject(text: string | null, value: JsonObject): boolean {
  return text !== null && digestOf('', JSON.parse(text)) === digestOf('', value);
}

/** The group of a tool, if the definition has it, and the tool's name in it. */
function placeOf({ definition }: RunningDeployment, name: string) {
  const { group: groupName, tool } = partsOfToolName(name);
  return { group: definition.tools.find((one) => one.name === groupName), tool };
}

function alreadyDecided({ status, decidedAt, expiresAt }: Approval): GatewayError {
  if (status === 'WAITING' || status === 'EXPIRED') {
    const when = expiresAt.toISOString();
    return new GatewayError('already_decided', `The approval expired at ${when}.`);
  }
  const how = status === 'APPROVED' ? 'approved' : 'denied';
  const when = decidedAt?.toISOString() ?? 'an earlier time';
  return new GatewayError('already_decided', `The call was ${how} at ${when}.`);
}
