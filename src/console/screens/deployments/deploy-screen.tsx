import { useRef, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { Environment } from '../../../vocabulary/environments.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { DeployDialog } from '../../deploy/deploy-dialog.tsx';
import { useRunning } from '../../deploy/use-running.ts';
import { versionName } from '../../deploy/version.ts';
import { environmentQuery, useEnvironment, withEnvironment } from '../../frame/environments.ts';
import { Screen } from '../../frame/screen.tsx';
import { Button, ButtonLink } from '../../parts/button.tsx';
import { TextArea } from '../../parts/field.tsx';
import { Skeleton } from '../../parts/state.tsx';
import { SCREENS } from '../../screens.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** Bytes of the longest definition. */
const MAX_BYTES = 256 * 1024;

/** Deploys a definition: the active one with changes, or one that is pasted or chosen as a file. */
export function DeployScreen({ botId }: { botId: string }) {
  const [, setSearch] = useSearchParams();
  const { chosen, environment } = useEnvironment();
  const [entered, setSource] = useState<string>();
  const [fault, setFault] = useState<string>();
  const { bot, running, problem } = useRunning(botId, environment);
  const isReading = entered === undefined && !bot && !problem;
  const source = entered ?? running?.source ?? '';
  const picker = useRef<HTMLInputElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const [isOpen, setOpen] = useState(false);
  const mayDeploy = useScope('DEPLOY');
  const select = (name: Environment) =>
    setSearch((before) => withEnvironment(before, name), { replace: true });
  const choose = async (file: File | undefined) => {
    if (!file) return;
    if (file.size > MAX_BYTES) return setFault(`${file.name} is over 256 KiB.`);
    setFault(undefined);
    setSource(await file.text());
  };
  return (
    <Screen
      title={SCREENS.deploy.title}
      actions={
        <ButtonLink href={`/bots/${botId}/deployments${environmentQuery(chosen)}`} look="quiet">
          All deployments
        </ButtonLink>
      }
    >
      <div className="deployments">
        <div className="deploy-source">
          {isReading ? (
            <Skeleton height={240} />
          ) : (
            <TextArea
              ref={field}
              label="Definition"
              isMono
              rows={12}
              placeholder="Paste a definition in agentlang 5, or choose a file."
              error={fault}
              value={source}
              onChange={({ target }) => {
                setFault(undefined);
                setSource(target.value);
              }}
            />
          )}
          <div className="deploy-source-actions">
            <input
              ref={picker}
              type="file"
              hidden
              accept=".agent,.txt,text/plain"
              aria-label="File of the definition"
              onChange={({ target }) => {
                void choose(target.files?.[0]);
                target.value = '';
              }}
            />
            <Button onClick={() => picker.current?.click()}>Choose a file…</Button>
            {running?.source !== undefined &&
              (entered === undefined ? (
                <p className="soft">
                  This is {versionName(running)}, which runs in {toLowerCase(environment)}.
                </p>
              ) : (
                <Button look="quiet" onClick={() => setSource(undefined)}>
                  Begin again with {versionName(running)}
                </Button>
              ))}
            <Button
              look="primary"
              unavailable={
                (!mayDeploy && lacks('DEPLOY')) ||
                (source.trim() === '' && 'There is no definition yet.')
              }
              onClick={() => setOpen(true)}
            >
              Deploy…
            </Button>
          </div>
        </div>
      </div>
      <DeployDialog
        botId={botId}
        change={{ kind: 'deploy', source }}
        environment={environment}
        onEnvironment={select}
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onGoTo={({ line }) => {
          setOpen(false);
          // The closing dialog returns the focus first.
          requestAnimationFrame(() => selectLine(field.current, line));
        }}
      />
    </Screen>
  );
}

/** Selects a line, which scrolls to it. */
function selectLine(field: HTMLTextAreaElement | null, line: number): void {
  if (!field) return;
  const lines = field.value.split('\n');
  const start = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  field.focus();
  field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
}
