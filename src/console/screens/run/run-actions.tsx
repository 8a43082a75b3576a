import { useLocation, useSearchParams } from 'wouter';
import { StopRun } from '../../../generated/operations/console.ts';
import { draftAddress, type ReplayedRuns } from '../../evaluations/replayed-runs.ts';
import { environmentQuery } from '../../frame/environments.ts';
import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Menu, MenuItem } from '../../parts/menu.tsx';
import { toast } from '../../parts/toast.tsx';
import { isActive } from '../../runs/labels.ts';
import { useMutate } from '../../server/operations.ts';
import { isRecord } from '../../server/record.ts';
import { lacks, useScope } from '../../server/viewer.ts';
import { sampleOf } from '../playground/inspector/samples.ts';
import { newSessionId } from '../playground/use-parameters.ts';
import { testOfRun } from './test-of-run.ts';
import type { ShownRun } from './use-run.ts';

/** The actions on a run: cancel it, repeat its message, copy it. */
export function RunActions({ run, onCancelled }: { run: ShownRun; onCancelled(): void }) {
  const [path, navigate] = useLocation();
  const [current] = useSearchParams();
  const mayChat = useScope('CHAT');
  const mayDeploy = useScope('DEPLOY');
  const cancellation = useMutate(StopRun, ['Run']);
  const { bot, environment, input, context, kind } = run;
  const cancel = async () => {
    const { data, problem } = await cancellation.run({ id: run.id });
    if (problem) return toast(problem.message);
    onCancelled();
    if (data.cancelRun?.status !== 'CANCELLED') toast('The run had already ended.');
  };
  const askAgain = () => {
    const search = environmentQuery(environment);
    // A message may be long or private, so it is not in the address.
    navigate(`/bots/${bot.id}/playground${search}`, { state: { message: input, context } });
  };
  const compare = () => {
    const list = `/bots/${bot.id}/runs`;
    const search = new URLSearchParams(path === list ? current : undefined);
    for (const name of ['run', 'tab', 'span']) search.delete(name);
    search.set('compare', run.id);
    navigate(`${list}?${search}`);
  };
  const addAsTest = async () => {
    const written = await testOfRun(run);
    if ('problem' in written) return toast(written.problem);
    // A test has what a user wrote, so it is not in the address.
    navigate(`/bots/${bot.id}/studio${environmentQuery(environment)}`, { state: written });
  };
  const replay = () => {
    const runs: ReplayedRuns = { replay: { runIds: [run.id] }, label: `The run ${run.id}` };
    navigate(draftAddress(bot.id, environment), { state: { runs } });
  };
  const curl = () =>
    sampleOf(
      'curl',
      {
        botId: bot.id,
        message: input,
        ...(isRecord(context) && { context }),
        sessionId: newSessionId(),
        environment,
        protocol: 'rest',
        isStreamed: false,
      },
      location.origin,
    );
  const noMessage = run.trigger === 'APPROVAL' && 'No user sent the message of this run.';
  const copy = (text: string) => void navigator.clipboard.writeText(text);
  return (
    <>
      {isActive(run.status) && (
        <Button icon="stop" isBusy={cancellation.isBusy} onClick={() => void cancel()}>
          Cancel run
        </Button>
      )}
      <Button
        icon="repeat"
        unavailable={noMessage || (!mayChat && lacks('CHAT'))}
        onClick={askAgain}
      >
        Ask again
      </Button>
      <Menu label="Copy and more" button={<Icon name="dots" />}>
        <MenuItem onSelect={compare}>Compare with…</MenuItem>
        <MenuItem
          unavailable={noMessage || (!mayDeploy && lacks('DEPLOY'))}
          onSelect={() => void addAsTest()}
        >
          Add as test
        </MenuItem>
        <MenuItem
          unavailable={
            (isActive(run.status) && 'The run has not ended.') || (!mayDeploy && lacks('DEPLOY'))
          }
          onSelect={replay}
        >
          Replay with the draft
        </MenuItem>
        <MenuItem onSelect={() => copy(run.id)}>Copy id</MenuItem>
        <MenuItem onSelect={() => copy(new URL(`/runs/${run.id}`, location.origin).href)}>
          Copy link
        </MenuItem>
        <MenuItem
          unavailable={noMessage || (kind !== 'CHAT' && 'Only a chat can be copied as curl.')}
          onSelect={() => copy(curl())}
        >
          Copy as curl
        </MenuItem>
      </Menu>
    </>
  );
}
