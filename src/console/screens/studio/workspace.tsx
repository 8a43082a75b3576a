import { useCallback, useMemo, useState } from 'react';
import type { Environment } from '../../../vocabulary/environments.ts';
import { DeployDialog } from '../../deploy/deploy-dialog.tsx';
import { Screen } from '../../frame/screen.tsx';
import { Button } from '../../parts/button.tsx';
import { lazyPart } from '../../parts/lazy-part.tsx';
import { toast } from '../../parts/toast.tsx';
import { SCREENS } from '../../screens.ts';
import { lacks, useScope, useViewer } from '../../server/viewer.ts';
import { EXAMPLES } from '../start/examples.ts';
import type { OpenEditor } from './editor/commands.ts';
import type { Findings } from './editor/reading.ts';
import type { Renaming } from './language/rename.ts';
import { Loading } from './loading.tsx';
import { ChatPanel } from './panels/chat-panel.tsx';
import { OutlinePanel } from './panels/outline-panel.tsx';
import { Panels } from './panels/panels.tsx';
import { ProblemsPanel } from './panels/problems-panel.tsx';
import { TestsPanel } from './panels/tests-panel.tsx';
import { isNarrow } from './panels/use-is-narrow.ts';
import { RenameDialog } from './rename-dialog.tsx';
import { editorText } from './source-text.ts';
import { StaleBar } from './stale-bar.tsx';
import { StatusBar } from './status-bar.tsx';
import { TextOrigin, TextState } from './text-state.tsx';
import { addTest, FIRST_TEST, useAddedTest } from './use-added-test.ts';
import type { Definition } from './use-definition.ts';
import type { PanelName } from './use-parameters.ts';
import { useTests } from './use-tests.ts';
import { useWork } from './use-work.ts';

const Editor = lazyPart(() => import('./editor/editor.tsx'), Loading);

const NONE: readonly never[] = [];

/** The editor of what runs in one environment, and the panels beside it. */
export function Workspace({
  botId,
  environment,
  definition: { running, production },
  panel,
  onPanel,
}: {
  botId: string;
  environment: Environment;
  definition: Definition;
  panel: PanelName | undefined;
  onPanel(panel: PanelName | undefined): void;
}) {
  const accountId = useViewer().account.id;
  const mayRun = useScope('DEPLOY');
  const place = useMemo(() => ({ accountId, botId, environment }), [accountId, botId, environment]);
  const source = (running ?? production)?.source ?? EXAMPLES[0]?.source ?? '';
  const start = useMemo(() => editorText(source), [source]);
  const [editor, setEditor] = useState<OpenEditor>();
  const [read, setRead] = useState<Findings>();
  const [chatPage, setChatPage] = useState<Findings['chatPage']>();
  const [renaming, setRenaming] = useState<Renaming>();
  const [target, setTarget] = useState(environment);
  const [isDeploying, setDeploying] = useState(false);
  const work = useWork({ place, running, start, editor });
  useAddedTest(editor);
  const tests = useTests(botId, environment, editor);
  const findings = read?.findings ?? NONE;
  const deployed = running?.envNames;

  const jump = useCallback(
    (range: { start: number; end?: number }) => {
      if (isNarrow()) onPanel(undefined);
      // The editor takes the focus once it is in sight.
      requestAnimationFrame(() => editor?.jump({ end: range.start, ...range }));
    },
    [editor, onPanel],
  );
  const jumpToFinding = useCallback(
    ({ line, column }: { line: number; column: number }) => {
      const start = (read?.syntax.source.lineStarts[line - 1] ?? 0) + column - 1;
      jump({ start });
    },
    [read, jump],
  );
  const format = () => {
    if (editor && !editor.format())
      toast('Not formatted: correct the mistakes in the syntax first.');
  };
  const askForName = () => {
    const found = editor?.renaming();
    if (found) setRenaming(found);
    else toast('Put the cursor on a fact, an input, a capability or a group to rename it.');
  };
  const runTest = (name: string) => {
    onPanel('tests');
    if (!mayRun) return toast(lacks('DEPLOY'));
    tests.run({ testNames: [name] });
  };
  const endRenaming = () => {
    setRenaming(undefined);
    // A closing dialog does not find the editor's text field, which is in a shadow root.
    requestAnimationFrame(() => editor?.focus());
  };

  return (
    <Screen
      title={SCREENS.studio.title}
      actions={
        <>
          <span className="studio-state">
            <TextState
              isChanged={work.isChanged}
              isDeployed={running !== undefined}
              findings={findings}
            />
          </span>
          <span className="studio-format">
            <Button onClick={format}>Format</Button>
          </span>
          <Button
            look="primary"
            unavailable={!editor && 'The editor is being loaded.'}
            onClick={() => setDeploying(true)}
          >
            Deploy…
          </Button>
        </>
      }
    >
      <div className="studio" data-panel={panel}>
        <div className="studio-main">
          {editor && work.isStale && work.isChanged && (
            <StaleBar
              running={running}
              text={editor.text}
              onTake={() => {
                editor.replace(start);
                work.rebase();
              }}
              onKeep={work.rebase}
            />
          )}
          {!running && (
            <TextOrigin
              environment={environment}
              isCopy={production !== undefined}
              isChanged={work.isChanged}
            />
          )}
          <Editor
            initial={work.initial}
            variables={deployed}
            onOpen={setEditor}
            onChange={work.changed}
            onRead={(next) => {
              setRead(next);
              // The preview stays while a mistake is corrected.
              if (!next.hasErrors) setChatPage(next.chatPage);
            }}
            onSave={format}
            onFormat={format}
            onRename={askForName}
            onRunTest={runTest}
          />
          <StatusBar isChanged={work.isChanged} isKept={work.isKept} />
        </div>
        <Panels
          findings={findings}
          current={panel}
          onChange={onPanel}
          panels={{
            chat: editor && (
              <ChatPanel
                botId={botId}
                environment={environment}
                definition={editor.text}
                envNames={read?.envNames ?? NONE}
                deployed={deployed ?? NONE}
                hasErrors={read?.hasErrors ?? false}
                chatPage={chatPage}
                onRefused={editor.showRefused}
              />
            ),
            outline: read && (
              <OutlinePanel syntax={read.syntax} deployed={deployed} onJump={jump} />
            ),
            problems: <ProblemsPanel findings={findings} onJump={jumpToFinding} />,
            tests: editor && (
              <TestsPanel
                botId={botId}
                editor={editor}
                tests={tests}
                count={read?.tests.length ?? 0}
                hasErrors={read?.hasErrors ?? false}
                onAdd={() => jump(addTest(editor, FIRST_TEST))}
                onGoTo={jumpToFinding}
              />
            ),
          }}
        />
      </div>
      {editor && (
        <DeployDialog
          botId={botId}
          change={{ kind: 'deploy', source: isDeploying ? editor.text() : '' }}
          environment={target}
          onEnvironment={setTarget}
          isOpen={isDeploying}
          onClose={() => setDeploying(false)}
          onGoTo={(finding) => {
            setDeploying(false);
            jumpToFinding(finding);
          }}
        />
      )}
      {renaming && editor && (
        <RenameDialog
          renaming={renaming}
          onRename={(name) => {
            editor.rename(renaming, name);
            endRenaming();
          }}
          onClose={endRenaming}
        />
      )}
    </Screen>
  );
}
