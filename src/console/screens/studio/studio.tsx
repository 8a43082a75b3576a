import { useCallback } from 'react';
import { useEnvironment } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
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
  const [{ panel }, change] = useParameters();
  const { environment } = useEnvironment();
  const { definition, problem, retry } = useDefinition(botId, environment);
  const mayDeploy = useScope('DEPLOY');
  const onPanel = useCallback((name: PanelName | undefined) => change({ panel: name }), [change]);
  if (mayDeploy && definition)
    return (
      <Workspace
        key={environment}
        botId={botId}
        environment={environment}
        definition={definition}
        panel={panel}
        onPanel={onPanel}
      />
    );
  return (
    <Screen title={SCREENS.studio.title}>
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
