import { useEffect, useState } from 'react';
import { DeploymentSource } from '../../../generated/operations/console.ts';
import { useServerQuery } from '../../server/operations.ts';
import { useScope } from '../../server/viewer.ts';

/** The members of `context` that the deployed definition reads. Empty for a key without the scope DEPLOY. */
export function useContextNames(deploymentId: string | undefined): string[] {
  const mayRead = useScope('DEPLOY');
  const pause = !mayRead || !deploymentId;
  const { data } = useServerQuery(DeploymentSource, { id: deploymentId ?? '' }, { pause });
  const [names, setNames] = useState<string[]>([]);
  const node = data?.node;
  const source = node && 'source' in node ? node.source : undefined;
  useEffect(() => {
    if (source === undefined) return undefined;
    let isCurrent = true;
    void import('../../../language/read.ts').then(({ readSource }) => {
      if (!isCurrent) return;
      const { definition } = readSource(source, { isDeployed: true });
      setNames([...namesIn(definition)].sort());
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return names;
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
