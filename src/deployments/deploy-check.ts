import type { ParsedSource } from '../language/read.ts';
import type { EnvironmentVariables } from './environment.ts';
import type { Plan } from './plan.ts';
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

/** @param sent the variables of the request. */
export function deployCheck(
  parsed: ParsedSource,
  { before, variables, refusals }: Plan,
  sent: EnvironmentVariables,
): DeployCheck {
  const isSent = (name: string) => Object.hasOwn(sent, name);
  const isKept = (name: string) => Object.hasOwn(variables, name);
  return {
    ...verdictOn({ parsed, variables, refusals }),
    envNames: parsed.envNames,
    set: Object.keys(sent).filter(isKept).sort(),
    carriedOver: Object.keys(variables)
      .filter((name) => !isSent(name))
      .sort(),
    removed: Object.keys(before)
      .filter((name) => !isKept(name))
      .sort(),
    missing: parsed.envNames.filter((name) => !isKept(name)),
  };
}
