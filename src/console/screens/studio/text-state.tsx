import type { Environment } from '../../../vocabulary/environments.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { quantity } from '../../numbers.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Finding } from './editor/state.ts';

/** Says what the text is, if nothing runs in the environment. */
export function TextOrigin({
  environment,
  isCopy,
  isChanged,
}: {
  environment: Environment;
  isCopy: boolean;
  isChanged: boolean;
}) {
  const what = isCopy
    ? 'This is the active definition of production.'
    : 'This is an example to start from.';
  return (
    <p className="studio-origin">
      Nothing is deployed to {toLowerCase(environment)}. {!isChanged && what}
    </p>
  );
}

/** Whether the text has errors, or is deployed. */
export function TextState({
  isChanged,
  isDeployed,
  findings,
}: {
  isChanged: boolean;
  isDeployed: boolean;
  findings: readonly Finding[];
}) {
  const errors = findings.filter(({ severity }) => severity === 'ERROR').length;
  if (errors > 0) return <Badge tone="bad">{quantity(errors, 'error')}</Badge>;
  if (isChanged) return <Badge tone="warn">changes not deployed</Badge>;
  return isDeployed ? <Badge tone="good">deployed</Badge> : <Badge tone="off">not deployed</Badge>;
}
