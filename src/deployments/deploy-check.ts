import type { PrismaClient } from '../generated/prisma/client.ts';
import type { DefinitionReport } from '../language/read.ts';
import type { EnvironmentCipher } from './environment.ts';
import { createPlan } from './plan.ts';
import type { ReadSource } from './read-source.ts';
import type { DeployCheckRequest } from './request.ts';
import { type Verdict, verdictOn } from './verdict.ts';

/** What a deploy would answer, and what it would do to each variable, by sorted names. */
export type DeployCheck = Verdict & {
  /** The source refers to them. */
  envNames: string[];
  /** The request has values for them. */
  set: string[];
  /** They keep the values of the active deployment. */
  carriedOver: string[];
  /** The active deployment has values for them, and the next one would not. */
  removed: string[];
  /** The source refers to them, and they would have no value. */
  missing: string[];
};

/** Checks that change nothing. */
export type DeployChecks = {
  /**
   * Reads a source as a deploy does.
   *
   * @param envNames see `ParsedSource.diagnose`.
   */
  checkSource(source: string, envNames?: readonly string[]): Promise<DefinitionReport>;
  /**
   * Decides on a deploy as `Deploy` does. Contacts neither tool servers nor the services of channels, so that an unfinished
   * request sends no variable: their warnings are absent, and errors about claimed bots too.
   *
   * @throws GatewayError `invalid_request` as `Deploy`.
   */
  checkDeploy(request: DeployCheckRequest): Promise<DeployCheck>;
};

export function createDeployChecks({
  prisma,
  cipher,
  read,
}: {
  prisma: PrismaClient;
  cipher: EnvironmentCipher;
  read: ReadSource;
}): DeployChecks {
  const { changeVariables } = createPlan({ cipher });
  return {
    async checkSource(source, envNames) {
      const { diagnose, ...parsed } = await read(source);
      return { ...parsed, diagnostics: diagnose(envNames) };
    },

    async checkDeploy(request) {
      const { before, variables, refusals } = await changeVariables(prisma, request);
      const parsed = await read(request.source);
      const isSent = (name: string) => Object.hasOwn(request.envVars, name);
      const isKept = (name: string) => Object.hasOwn(variables, name);
      return {
        ...verdictOn({ parsed, variables, refusals }),
        envNames: parsed.envNames,
        set: Object.keys(request.envVars).filter(isKept).sort(),
        carriedOver: Object.keys(variables)
          .filter((name) => !isSent(name))
          .sort(),
        removed: Object.keys(before)
          .filter((name) => !isKept(name))
          .sort(),
        missing: parsed.envNames.filter((name) => !isKept(name)),
      };
    },
  };
}
