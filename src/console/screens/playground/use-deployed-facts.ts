import { useEffect, useState } from 'react';
import { DeploymentSource } from '../../../generated/operations/console.ts';
import type { Definition, Greeting } from '../../../language/definition.ts';
import { useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';

/** What the playground reads of a deployed definition. */
export type DeployedFacts = {
  /** The members of `context` that it reads. */
  contextNames: string[];
  /** The beginning of a conversation on its chat page, if it has the channel `web`. */
  greeting: Greeting | undefined;
};

const NOTHING: DeployedFacts = { contextNames: [], greeting: undefined };

/** Reads a deployed definition. Nothing is known for a key without the scope DEPLOY. */
export function useDeployedFacts(deploymentId: string | undefined): DeployedFacts {
  const mayRead = useScope('DEPLOY');
  const pause = !mayRead || !deploymentId;
  const { data } = useServerQuery(DeploymentSource, { id: deploymentId ?? '' }, { pause });
  const [facts, setFacts] = useState(NOTHING);
  const node = data?.node;
  const source = node && 'source' in node ? node.source : undefined;
  useEffect(() => {
    if (source === undefined) return undefined;
    let isCurrent = true;
    void import('../../../language/read.ts').then(({ readSource }) => {
      if (isCurrent) setFacts(factsOf(readSource(source, { isDeployed: true }).definition));
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return facts;
}

function factsOf(definition: Definition | null): DeployedFacts {
  const contextNames = [...namesIn(definition)].sort();
  return { contextNames, greeting: definition?.channels.find(({ type }) => type === 'web') };
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
