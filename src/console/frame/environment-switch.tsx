import { useLocation, useSearchParams } from 'wouter';
import type { Environment } from '../../generated/operations/console.ts';
import { DEFAULT_ENVIRONMENT } from '../../vocabulary/environments.ts';
import { Faults } from '../parts/faults.tsx';
import { Segments } from '../parts/segments.tsx';
import { screenAt } from '../screen-addresses.ts';
import { ENVIRONMENT_OPTIONS, environmentIn, withEnvironment } from './environments.ts';

const WITH_BOTH = [...ENVIRONMENT_OPTIONS, { name: 'BOTH' as const, label: 'Both' }];

/** Selects the environment of all screens of a bot. The address holds the choice. */
export function EnvironmentSwitch() {
  const { environments, comparison } = useShownEnvironments();
  const [search, setSearch] = useSearchParams();
  if (!environments) return null;
  const { environment, fault } = environmentIn(search);
  const choose = (chosen: Environment | undefined) =>
    setSearch((before) => {
      const next = withEnvironment(before, chosen);
      if (comparison) next.delete(comparison);
      return next;
    });
  const absent = environments === 'both' ? 'BOTH' : DEFAULT_ENVIRONMENT;
  return (
    <Segments<Environment | 'BOTH'>
      label="Environment"
      options={environments === 'both' ? WITH_BOTH : ENVIRONMENT_OPTIONS}
      current={comparison ? undefined : (environment ?? absent)}
      isWrong={fault !== undefined}
      onChange={(name) => choose(name === 'BOTH' ? undefined : name)}
    />
  );
}

/** Says that the address names no environment, and what is shown. */
export function EnvironmentFault() {
  const { environments, comparison } = useShownEnvironments();
  const [search] = useSearchParams();
  if (!environments) return null;
  const shown =
    environments === 'both' ? 'Both environments are shown.' : 'Production is selected.';
  return (
    <Faults
      faults={{ environment: environmentIn(search).fault }}
      effect={comparison ? 'It is ignored.' : shown}
    />
  );
}

/** What the open screen shows: one environment, also both, or a comparison, which a parameter of the address opened. */
function useShownEnvironments(): { environments?: 'one' | 'both'; comparison?: string } {
  const [location] = useLocation();
  const [search] = useSearchParams();
  const { environments, comparison } = screenAt(location) ?? {};
  const isCompared = comparison !== undefined && search.get(comparison) === 'true';
  return { ...(environments && { environments }), ...(isCompared && { comparison }) };
}
