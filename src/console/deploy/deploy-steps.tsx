import type { ReactNode } from 'react';
import type { Environment } from '../../generated/operations/console.ts';
import { gateSentence } from '../../vocabulary/gates.ts';
import { toLowerCase } from '../../vocabulary/names.ts';
import { TextDiffView } from '../diff/text-diff-view.tsx';
import { VariablesDiff } from '../diff/variables-diff.tsx';
import { quantity } from '../numbers.ts';
import { Choice } from '../parts/choices.tsx';
import { TextField } from '../parts/field.tsx';
import { Refused } from '../parts/state.tsx';
import { Status } from '../parts/status.tsx';
import { detailFor } from '../server/problem.ts';
import { lacks, useScope } from '../server/viewer.ts';
import { type DeploymentChange, labelsOf } from './deployment-change.ts';
import { Findings } from './findings.tsx';
import type { DeployForm } from './use-deploy-form.ts';
import type { Finding } from './use-reading.ts';
import { VariableFields } from './variable-fields.tsx';
import { versionName } from './version.ts';

type StepsProps = {
  form: DeployForm;
  change: DeploymentChange;
  environment: Environment;
  onGoTo?: ((finding: Finding) => void) | undefined;
};

/** The parts of a deploy, in the order in which a person decides: what can stop it comes first. */
export function DeploySteps({ form, change, environment, onGoTo }: StepsProps) {
  const { message, setMessage, problem } = form;
  return (
    <>
      <Variables form={form} change={change} environment={environment} />
      <Step title="Changes">
        <Changes form={form} change={change} environment={environment} />
      </Step>
      <Step title="Checks">
        <Checks form={form} onGoTo={onGoTo} />
      </Step>
      <Step>
        <TextField
          label="Message"
          placeholder={change.kind === 'rollback' ? 'Why' : 'What changed, and why'}
          maxLength={1_000}
          value={message}
          error={detailFor(problem, 'input.message') ?? detailFor(problem, 'message')}
          hint="The list of deployments shows it."
          onChange={({ target }) => setMessage(target.value)}
        />
      </Step>
    </>
  );
}

function Step({ title, note, children }: { title?: string; note?: string; children: ReactNode }) {
  return (
    <div className="deploy-step">
      <header>
        {title && <h3>{title}</h3>}
        {note && <p className="soft">{note}</p>}
      </header>
      <div className="deploy-step-body">{children}</div>
    </div>
  );
}

function Variables({ form, change, environment }: Omit<StepsProps, 'onGoTo'>) {
  const { fields, draft, setDraft, findings, restored } = form;
  if (restored)
    return (
      <Step title="Variables">
        <VariablesDiff changes={restored} kept={`as in ${labelsOf(change, environment).after}`} />
      </Step>
    );
  if (fields.length === 0) return null;
  // What is missing can stop a deploy, so it comes first.
  const asked = fields.filter(({ isRunning }) => !isRunning);
  const others = fields.filter(({ isRunning }) => isRunning);
  const note = [
    asked.length > 0 && `${quantity(asked.length, 'value')} to enter`,
    others.length > 0 && `${others.length} in ${toLowerCase(environment)}`,
  ]
    .filter(Boolean)
    .join(', ');
  return (
    <Step title="Variables" note={note}>
      {/* The browser's undo must not bring a value back from the other environment. */}
      <div key={environment} className="variables">
        <VariableFields
          fields={[...asked, ...others]}
          draft={draft}
          refusals={findings}
          onChange={setDraft}
        />
      </div>
    </Step>
  );
}

function Changes({ form: { reading, shown }, change, environment }: Omit<StepsProps, 'onGoTo'>) {
  const mayRead = useScope('DEPLOY');
  const { running } = reading;
  if (!mayRead)
    return <p className="soft">The difference to the active deployment needs the scope deploy.</p>;
  return (
    <TextDiffView
      label="Definition"
      before={running?.source}
      after={shown}
      beforeName={running && `${versionName(running)}, active`}
      afterName={labelsOf(change, environment).after}
    />
  );
}

/** What the server and the gate of the bot say about the definition. */
function Checks({ form, onGoTo }: Pick<StepsProps, 'form' | 'onGoTo'>) {
  const { findings, isChecked, isChecking, checkProblem, gate, skipsGate, setSkipsGate } = form;
  const maySkipGate = useScope('ADMIN');
  return (
    <>
      <Refused problem={checkProblem} />
      <Findings findings={findings} onGoTo={onGoTo} />
      {findings.length === 0 && isChecked && (
        <Status icon="check" tone="good">
          no problems found
        </Status>
      )}
      {findings.length === 0 && isChecking && (
        <Status icon="dashed" tone="live">
          checking
        </Status>
      )}
      {gate && (
        <div className="deploy-gate">
          <p>
            <strong>Gate of production:</strong> {gateSentence(gate)} The deployment is pending
            until it has passed.
          </p>
          <Choice
            label="Skip the gate"
            hint="It needs a message, and the audit log names it."
            isChosen={skipsGate}
            unavailable={!maySkipGate && lacks('ADMIN')}
            onChange={setSkipsGate}
          />
        </div>
      )}
    </>
  );
}
