import { useEffect, useState } from 'react';
import { DeploymentSource } from '../../../generated/operations/console.ts';
import type { Definition, Greeting } from '../../../language/definition.ts';
import { useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';

/** What the playground reads of a definition. */
type DefinitionFacts = {
  /** The members of `context` that it reads. */
  contextNames: string[];
  /** The beginning of a conversation on its chat page, if it has the channel `web`. */
  greeting: Greeting | undefined;
  /** The tools whose calls may change something and wait for nobody. */
  effects: string[];
};

const NOTHING: DefinitionFacts = { contextNames: [], greeting: undefined, effects: [] };

/** Reads a deployed definition. Nothing is known for a key without the scope DEPLOY. */
export function useDeployedFacts(deploymentId: string | undefined): DefinitionFacts {
  const mayRead = useScope('DEPLOY');
  const pause = !mayRead || !deploymentId;
  const { data } = useServerQuery(DeploymentSource, { id: deploymentId ?? '' }, { pause });
  const node = data?.node && 'source' in data.node ? data.node : undefined;
  // A query keeps the data of the deployment before until the next one is read.
  return useDefinitionFacts(node?.id === deploymentId ? node?.source : undefined);
}

/** Reads a definition, if there is one. Nothing is known before it is read. */
export function useDefinitionFacts(source: string | undefined): DefinitionFacts {
  const [read, setRead] = useState<{ source: string; facts: DefinitionFacts }>();
  useEffect(() => {
    if (source === undefined) return undefined;
    let isCurrent = true;
    void Promise.all([
      import('../../../language/read.ts'),
      import('../../../language/effects.ts'),
    ]).then(([{ readSource }, effects]) => {
      if (!isCurrent) return;
      const { definition } = readSource(source, { isDeployed: true });
      setRead({ source, facts: factsOf(definition, effects) });
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return read !== undefined && read.source === source ? read.facts : NOTHING;
}

type Effects = typeof import('../../../language/effects.ts');

function factsOf(definition: Definition | null, effects: Effects): DefinitionFacts {
  return {
    contextNames: [...namesIn(definition)].sort(),
    greeting: definition?.channels.find(({ type }) => type === 'web'),
    effects: effectsOf(definition, effects),
  };
}

/** The tools whose calls may change something at once. The tools of a server are known by its name only. */
function effectsOf(
  definition: Definition | null,
  { changesSomething, approvalOf }: Effects,
): string[] {
  return (definition?.tools ?? []).flatMap((group) => {
    if (group.type === 'http')
      return group.capabilities
        .filter((one) => changesSomething(one) && one.approval === null)
        .map(({ name }) => `${group.name}.${name}`);
    if (group.type !== 'mcp') return [];
    const { name, only, reads } = group;
    const changing = only?.filter(
      (tool) => !reads.includes(tool) && approvalOf(group, tool) === null,
    );
    if (changing) return changing.map((tool) => `${name}.${tool}`);
    return group.approvals.some(({ tools }) => tools === 'all') ? [] : [`tools of ${name}`];
  });
}

/** Collects the second names of all template paths that begin with `context`. */
function namesIn(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  if ('path' in value && Array.isArray(value.path)) {
    const [root, name] = value.path;
    if (root === 'context' && typeof name === 'string') found.add(name);
  }
  for (const member of Object.values(value)) namesIn(member, found);
  return found;
}
