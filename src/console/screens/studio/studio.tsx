import { useCallback } from 'react';
import type { Environment } from '../../../vocabulary/environments.ts';
import { ENVIRONMENT_OPTIONS } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
import { Faults } from '../../parts/faults.tsx';
import { Segments } from '../../parts/segments.tsx';
import { Empty, Failed } from '../../parts/state.tsx';
import { lacks, useScope } from '../../server/viewer.ts';
import { Loading } from './loading.tsx';
// The layout of narrow windows follows.
import './panels/panels.css';
import './studio.css';
import { SCREENS } from '../../screens.ts';
import { useDefinition } from './use-definition.ts';
import { type PanelName, useParameters } from './use-parameters.ts';
import { Workspace } from './workspace.tsx';

/** The editor of a bot's definition, with a chat that tries it before it is deployed. */
export default function Studio({ botId }: { botId: string }) {
  const [{ environment, fault, panel }, change] = useParameters();
  const { definition, problem, retry } = useDefinition(botId, environment);
  const mayDeploy = useScope('DEPLOY');
  const onPanel = useCallback((name: PanelName | undefined) => change({ panel: name }), [change]);
  const environments = (
    <Segments<Environment>
      label="Environment"
      options={ENVIRONMENT_OPTIONS}
      current={environment}
      isWrong={fault !== undefined}
      onChange={(name) => change({ environment: name })}
    />
  );
  const faults = <Faults faults={{ environment: fault }} effect="Production is selected." />;
  if (mayDeploy && definition)
    return (
      <Workspace
        key={environment}
        botId={botId}
        environment={environment}
        definition={definition}
        environments={environments}
        faults={faults}
        panel={panel}
        onPanel={onPanel}
      />
    );
  return (
    <Screen title={SCREENS.studio.title} actions={environments}>
      {faults}
      {!mayDeploy ? (
        <Empty title="The definition is not shown">
          <p>{lacks('DEPLOY')} Sign in with a key that has it to read and change the definition.</p>
        </Empty>
      ) : problem ? (
        <Failed problem={problem} onRetry={retry} />
      ) : (
        <Loading />
      )}
    </Screen>
  );
}
