import { useState } from 'react';
import {
  ChangeGate,
  type FeedbackRating,
  Gate,
  type GateInput,
  type GateSettingsFragment,
} from '../../../generated/operations/console.ts';
import { gateSentence } from '../../../vocabulary/gates.ts';
import { Button } from '../../parts/button.tsx';
import { Choice, Choices } from '../../parts/choices.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { SettingsConflict } from '../../parts/settings-conflict.tsx';
import { toast } from '../../parts/toast.tsx';
import { ask, useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';
import { useSettingsDraft } from '../../server/use-settings-draft.ts';
import { lacks, useScope } from '../../server/viewer.ts';

/** Says what a definition must pass before it becomes active in production, and changes it. */
export function GateBar({
  botId,
  gate,
  onChanged,
}: {
  botId: string;
  gate: GateSettingsFragment | null;
  onChanged(): void;
}) {
  const [isOpen, setOpen] = useState(false);
  const mayChange = useScope('ADMIN');
  return (
    <section className="gate" aria-label="Gate of production">
      <Icon name="shield" />
      <p>
        <strong>Gate of production:</strong>{' '}
        {gate ? gateSentence(gate) : 'off. A deploy becomes active without an evaluation.'}
      </p>
      <Button unavailable={!mayChange && lacks('ADMIN')} onClick={() => setOpen(true)}>
        {gate ? 'Change…' : 'Set up…'}
      </Button>
      {isOpen && (
        <GateDialog
          botId={botId}
          gate={gate}
          onClose={() => setOpen(false)}
          onChanged={() => {
            setOpen(false);
            onChanged();
          }}
        />
      )}
    </section>
  );
}

/** The settings of the gate as the values of their fields. */
type Draft = {
  tests: boolean;
  hasReplay: boolean;
  last: string;
  feedback: FeedbackRating | '';
  maxWorse: string;
  maxDiverged: string;
  repeat: string;
};

const LABELS: Record<keyof Draft, string> = {
  tests: 'Its tests',
  hasReplay: 'Recorded runs of production',
  last: 'Newest runs',
  feedback: 'Feedback',
  maxWorse: 'May be worse',
  maxDiverged: 'May diverge',
  repeat: 'Repeat',
};

function draftOf(gate: GateSettingsFragment | null): Draft {
  const { last = 50, feedback, maxWorse = 0, maxDiverged = 5 } = gate?.replay ?? {};
  return {
    tests: gate?.tests ?? true,
    hasReplay: gate?.replay != null,
    last: String(last),
    feedback: feedback ?? '',
    maxWorse: String(maxWorse),
    maxDiverged: String(maxDiverged),
    repeat: String(gate?.repeat ?? 1),
  };
}

function inputOf(draft: Draft): GateInput {
  const { tests, hasReplay, last, feedback, maxWorse, maxDiverged, repeat } = draft;
  const replay = {
    last: Number(last),
    maxWorse: Number(maxWorse),
    maxDiverged: Number(maxDiverged),
    feedback: feedback === '' ? null : feedback,
  };
  return { tests, repeat: Number(repeat), replay: hasReplay ? replay : null };
}

function GateDialog({
  botId,
  gate,
  onClose,
  onChanged,
}: {
  botId: string;
  gate: GateSettingsFragment | null;
  onClose(): void;
  onChanged(): void;
}) {
  const settings = useSettingsDraft(draftOf(gate), async () => {
    const { data } = await ask(Gate, { botId });
    return data?.bot ? draftOf(data.bot.gate) : undefined;
  });
  const { values: draft, change } = settings;
  const { isBusy, problem, run } = useMutate(ChangeGate, ['Bot']);
  const store = async (input: GateInput | null) => {
    const answer = await run({ id: botId, gate: input });
    if (answer.problem) return;
    toast(input ? 'The gate holds from the next deploy on.' : 'The gate is removed.');
    onChanged();
  };
  const save = async () => {
    const merged = await settings.merged();
    if (merged) await store(inputOf(merged));
  };
  const isEmpty = !draft.tests && !draft.hasReplay;
  const number = (name: 'last' | 'maxWorse' | 'maxDiverged', hint: string) => (
    <TextField
      label={LABELS[name]}
      hint={hint}
      type="number"
      min={name === 'last' ? 1 : 0}
      max={500}
      required
      error={detailFor(problem, `input.gate.replay.${name}`)}
      value={draft[name]}
      onChange={({ target }) => change({ [name]: target.value })}
    />
  );
  return (
    <Dialog title="Gate of production" onClose={onClose}>
      <DialogForm
        action="Save"
        isBusy={isBusy}
        problem={problem}
        unavailable={isEmpty && 'Choose the tests, recorded runs, or both.'}
        onSubmit={() => void save()}
        onCancel={onClose}
      >
        <p>
          A deploy or a promotion to production waits until its definition has passed. What was
          active before stays active until then. A rollback passes no gate.
        </p>
        <Choices label="A definition must pass" hints="below">
          <Choice
            label={LABELS.tests}
            hint="Every test of the definition passes."
            isChosen={draft.tests}
            onChange={(tests) => change({ tests })}
          />
          <Choice
            label={LABELS.hasReplay}
            hint="A model compares the new replies with the recorded ones. No tool is called."
            isChosen={draft.hasReplay}
            onChange={(hasReplay) => change({ hasReplay })}
          />
        </Choices>
        {draft.hasReplay && (
          <>
            {number('last', 'How many runs are repeated: 1 to 500.')}
            <SelectField
              label={LABELS.feedback}
              hint="Only runs with this feedback are repeated."
              value={draft.feedback}
              onChange={({ target }) => change({ feedback: ratingIn(target.value) })}
            >
              <option value="">any, or none</option>
              <option value="UP">rated good</option>
              <option value="DOWN">rated bad</option>
            </SelectField>
            {number('maxWorse', 'How many replies the model may find worse.')}
            {number('maxDiverged', 'How many runs may make a call that was not recorded.')}
          </>
        )}
        <SelectField
          label={LABELS.repeat}
          hint="All attempts must pass."
          value={draft.repeat}
          error={detailFor(problem, 'input.gate.repeat')}
          onChange={({ target }) => change({ repeat: target.value })}
        >
          {['1', '2', '3', '5', '10'].map((count) => (
            <option key={count} value={count}>
              {count === '1' ? 'once' : `${count} times`}
            </option>
          ))}
        </SelectField>
        {settings.conflict && (
          <SettingsConflict
            values={Object.entries(settings.conflict).map(([name, value]) => [
              LABELS[name as keyof Draft],
              value === true ? 'yes' : value === false ? 'no' : value,
            ])}
          />
        )}
        {gate && (
          <Button look="quiet" icon="trash" isBusy={isBusy} onClick={() => void store(null)}>
            Remove the gate
          </Button>
        )}
      </DialogForm>
    </Dialog>
  );
}

function ratingIn(value: string): FeedbackRating | '' {
  return value === 'UP' || value === 'DOWN' ? value : '';
}
