import type {
  AttemptCallFragment,
  AttemptExpectationFragment,
  AttemptTurnFragment,
  CaseAttemptFragment,
} from '../../generated/operations/console.ts';
import { each } from '../parts/each.ts';
import { Icon } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import { duration } from '../parts/time.tsx';
import { LongText } from '../tool-calls/long-text.tsx';
import { ComparisonDetails } from './comparison-details.tsx';
import { CaseState } from './evaluation-state.tsx';
import { VERDICTS } from './labels.ts';
import './evaluations.css';

/** An attempt at a case: each turn with its message, tool calls, reply and expectations. */
function AttemptDetails({ attempt }: { attempt: CaseAttemptFragment }) {
  const { error, turns, comparison } = attempt;
  return (
    <div className="attempt">
      {error !== null && (
        <p className="attempt-error" dir="auto">
          <Icon name="warning" size={14} /> {error}
        </p>
      )}
      {comparison && <ComparisonDetails comparison={comparison} turn={turns[0]} />}
      <ol className="attempt-turns">
        {each(turns, (turn) => (
          <li className="attempt-turn">
            <Turn turn={turn} />
          </li>
        ))}
      </ol>
    </div>
  );
}

function Turn({ turn }: { turn: AttemptTurnFragment }) {
  const { message, reply, calls, expectations, promptTokens, completionTokens, latencyMs } = turn;
  const tokens = promptTokens + completionTokens;
  return (
    <>
      <dl className="attempt-texts">
        <dt>User</dt>
        <dd dir="auto">{message}</dd>
        {each(calls, (call) => (
          <Call call={call} />
        ))}
        <dt>Reply</dt>
        <dd dir="auto">{reply === '' ? <span className="faint">no text</span> : reply}</dd>
      </dl>
      {expectations.length > 0 && (
        <ul className="attempt-expectations" aria-label="Expectations">
          {expectations.map((one) => (
            <li key={`${one.line}:${one.column}`}>
              <ExpectationLine expectation={one} />
            </li>
          ))}
        </ul>
      )}
      <p className="attempt-facts number">
        {tokens.toLocaleString('en')} tokens · {duration(latencyMs)}
      </p>
    </>
  );
}

function Call({ call: { name, arguments: input, result, failed } }: { call: AttemptCallFragment }) {
  return (
    <>
      <dt>Tool</dt>
      <dd>
        <details className="attempt-call">
          <summary>
            <span className="mono">{name}</span>{' '}
            {failed && (
              <Status icon="warning" tone="bad">
                failed
              </Status>
            )}
            <span className="attempt-call-input mono cut">{input}</span>
          </summary>
          <LongText label={`Input of ${name}`} text={input} />
          <LongText label={`${failed ? 'Error' : 'Result'} of ${name}`} text={result} />
        </details>
      </dd>
    </>
  );
}

function ExpectationLine({
  expectation: { verdict, expectation, line, column, detail },
}: {
  expectation: AttemptExpectationFragment;
}) {
  const { icon, tone, word } = VERDICTS[verdict];
  return (
    <>
      <Status icon={icon} tone={tone}>
        {word}
      </Status>
      <span className="mono attempt-expectation" dir="auto">
        {expectation}
      </span>
      <span className="faint number">
        line {line}:{column}
      </span>
      {detail !== null && (
        <span className="attempt-detail" dir="auto">
          {detail}
        </span>
      )}
    </>
  );
}

/** The attempts at a case. Several are numbered, each with its verdict. */
export function Attempts({ attempts }: { attempts: readonly CaseAttemptFragment[] }) {
  const [only] = attempts;
  if (attempts.length === 0) return <p className="attempt faint">No attempt has ended yet.</p>;
  if (attempts.length === 1 && only) return <AttemptDetails attempt={only} />;
  return each(attempts, (attempt, at) => (
    <details className="attempt-of-many" open={attempt.verdict !== 'PASSED'}>
      <summary>
        Attempt {at + 1} <CaseState verdict={attempt.verdict} />
      </summary>
      <AttemptDetails attempt={attempt} />
    </details>
  ));
}
