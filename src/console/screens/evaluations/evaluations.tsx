import { Link } from 'wouter';
import type { Environment } from '../../../generated/operations/console.ts';
import { toLowerCase } from '../../../vocabulary/names.ts';
import { EvaluationState } from '../../evaluations/evaluation-state.tsx';
import { countsOf, evaluationsAddress, testsAddress } from '../../evaluations/labels.ts';
import { useEnvironment } from '../../frame/environments.ts';
import { LackingScope } from '../../frame/lacking-scope.tsx';
import { Screen } from '../../frame/screen.tsx';
import { ButtonLink } from '../../parts/button.tsx';
import { More } from '../../parts/more.tsx';
import { Empty, Failed } from '../../parts/state.tsx';
import { MissingRows, TableHead } from '../../parts/table.tsx';
import { duration, RelativeTime } from '../../parts/time.tsx';
import { SCREENS } from '../../screens.ts';
import { useScope } from '../../server/viewer.ts';
import './evaluations.css';
import { GateBar } from './gate.tsx';
import { OpenEvaluation } from './open-evaluation.tsx';
import { StartButton } from './start-button.tsx';
import { type ListedEvaluation, useEvaluations } from './use-evaluations.ts';

/** The evaluations of a bot, or one of them. */
export default function Evaluations({ botId, opened }: { botId: string; opened?: string }) {
  const mayRead = useScope('DEPLOY');
  if (!mayRead)
    return (
      <LackingScope
        title={SCREENS.evaluations.title}
        scope="DEPLOY"
        reason="Evaluations hold what a definition answers."
      />
    );
  if (opened) return <OpenEvaluation key={opened} botId={botId} id={opened} />;
  return <Overview botId={botId} />;
}

const COLUMNS = ['Result', 'Cases', 'Environment', 'Repeat', 'Tokens', 'Duration', 'Started'];
const NUMBERS = ['Repeat', 'Tokens', 'Duration'];

function Overview({ botId }: { botId: string }) {
  const { chosen } = useEnvironment();
  const pages = useEvaluations(botId, chosen);
  const { rows, head, isFirst, isReading, problem, readAgain } = pages;
  return (
    <Screen
      title={SCREENS.evaluations.title}
      actions={<StartButton botId={botId} testable={head} />}
    >
      {head && <GateBar botId={botId} gate={head.gate} onChanged={readAgain} />}
      {isFirst && problem ? (
        <Failed problem={problem} onRetry={readAgain} />
      ) : !isFirst && rows.length === 0 ? (
        <Nothing botId={botId} environment={chosen} />
      ) : (
        <div className="evaluations">
          <table className="table table-cards" aria-label="Evaluations" aria-busy={isReading}>
            <TableHead columns={COLUMNS} numbers={NUMBERS} />
            {isFirst ? (
              <MissingRows columns={COLUMNS.length} problem={undefined} onRetry={readAgain} />
            ) : (
              <tbody>
                {rows.map((evaluation) => (
                  <Row key={evaluation.id} botId={botId} evaluation={evaluation} />
                ))}
              </tbody>
            )}
          </table>
          {!isFirst && <More pages={pages} />}
        </div>
      )}
    </Screen>
  );
}

function Row({ botId, evaluation }: { botId: string; evaluation: ListedEvaluation }) {
  const { id, environment, repeat, promptTokens, completionTokens } = evaluation;
  const { startedAt, finishedAt, createdAt } = evaluation;
  const took = startedAt && finishedAt && Date.parse(finishedAt) - Date.parse(startedAt);
  return (
    <tr>
      <td>
        <Link href={evaluationsAddress(botId, id)} className="evaluations-link">
          <EvaluationState evaluation={evaluation} />
        </Link>
      </td>
      <td data-label="Cases">{countsOf(evaluation)}</td>
      <td data-label="Environment">{toLowerCase(environment)}</td>
      <td className="right" data-label="Repeat">
        {repeat}
      </td>
      <td className="right" data-label="Tokens">
        {(promptTokens + completionTokens).toLocaleString('en')}
      </td>
      <td className="right" data-label="Duration">
        {took ? duration(took) : '–'}
      </td>
      <td data-label="Started">
        <RelativeTime at={createdAt} />
      </td>
    </tr>
  );
}

function Nothing({ botId, environment }: { botId: string; environment: Environment | undefined }) {
  return (
    <Empty
      title={environment ? `No evaluation in ${toLowerCase(environment)} yet` : 'No evaluation yet'}
    >
      <p>
        A test in the definition says what a user writes, what the tools answer, and what must be
        true of the reply. An evaluation runs the tests without calling a tool.
      </p>
      <p>
        <ButtonLink href={testsAddress(botId, environment)}>Write a test in the Studio</ButtonLink>
      </p>
      <ButtonLink href="/guide/test-an-agent" look="quiet">
        Read “Test an agent”
      </ButtonLink>
    </Empty>
  );
}
