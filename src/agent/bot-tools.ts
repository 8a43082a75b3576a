import type { ActiveDeployments, RunningDeployment } from '../deployments/active.ts';
import { createDerived } from '../deployments/derived.ts';
import type { PrismaClient } from '../generated/prisma/client.ts';
import type { Definition, ToolGroup } from '../language/definition.ts';
import { changesSomething, toolChangesSomething } from '../language/effects.ts';
import type { JsonObject } from '../text/json.ts';
import { schemaOfFields } from './tools/input.ts';

/** The longest description, in characters. */
export const MAX_DESCRIPTION = 2_000;
/** The longest JSON of an output schema, in bytes. */
export const MAX_OUTPUT_SCHEMA = 16 * 1024;

/** A bot as a tool of other agents, as its active production deployment defines it. */
export type BotTool = {
  /** The description in the definition, cut to 2,000 characters. */
  description: string | null;
  /** The JSON Schema of a structured reply. A schema of more than 16 KiB is only `{"type": "object"}`. Null: the reply is text. */
  outputSchema: JsonObject | null;
  /** Whether no tool of the bot changes something in another system. */
  readOnly: boolean;
};

export type BotTools = {
  /** Reads bots as tools. Bots without a valid production deployment are left out. */
  find(botIds: string[]): Promise<Map<string, BotTool>>;
};

export function createBotTools({
  prisma,
  activeDeployments,
}: {
  prisma: PrismaClient;
  activeDeployments: Pick<ActiveDeployments, 'loadValid'>;
}): BotTools {
  const derived = createDerived(activeDeployments, toolOf);

  return {
    async find(botIds) {
      const active = await prisma.activeDeployment.findMany({
        where: { botId: { in: botIds }, environment: 'PRODUCTION' },
        select: { botId: true, deploymentId: true },
      });
      const tools = await derived.read(active.map(({ deploymentId }) => deploymentId));
      return new Map(
        active.flatMap(({ botId, deploymentId }) => {
          const tool = tools.get(deploymentId);
          return tool ? [[botId, tool]] : [];
        }),
      );
    },
  };
}

function toolOf({ definition }: RunningDeployment): BotTool {
  const { description, tools } = definition;
  return {
    description: description?.slice(0, MAX_DESCRIPTION).toWellFormed() ?? null,
    outputSchema: outputSchemaOf(definition),
    readOnly: !tools.some(mayChange),
  };
}

function outputSchemaOf({ output }: Definition): JsonObject | null {
  if (!output) return null;
  const schema = schemaOfFields(output);
  const isShort = Buffer.byteLength(JSON.stringify(schema)) <= MAX_OUTPUT_SCHEMA;
  return isShort ? schema : { type: 'object' };
}

/** A server is not asked, so a group with all of its tools may change something. */
function mayChange(group: ToolGroup): boolean {
  switch (group.type) {
    case 'http':
      return group.capabilities.some(changesSomething);
    case 'mcp':
      return group.only?.some((tool) => toolChangesSomething(group, tool)) ?? true;
    case 'builtin':
      return false;
  }
}
