import { Button } from '../parts/button.tsx';
import { Id } from '../parts/copy.tsx';
import { useSecondsLeft } from '../parts/state.tsx';
import type { Problem } from '../server/problem.ts';
import './turn-problem.css';

/** Why a message got no full reply, with the ids for the server's log, and a way to send it again. */
export function TurnProblem({
  problem,
  runId,
  onRepeat,
  cannotRepeat,
}: {
  problem: Problem;
  runId: string | undefined;
  /** Sends the message again. Absent if that is not possible. */
  onRepeat?: (() => void) | undefined;
  /** Why the message cannot be sent again now. */
  cannotRepeat?: string | undefined;
}) {
  const { code, message, details, requestId } = problem;
  const seconds = useSecondsLeft(problem);
  return (
    <div className="turn-problem" role="alert">
      <p>
        <strong className="mono">{code.toLowerCase()}</strong> {message}
      </p>
      {details.length > 0 && (
        <ul>
          {details.map(({ path, message: fault }) => (
            <li key={path}>
              <span className="mono">{path}</span> {fault}
            </li>
          ))}
        </ul>
      )}
      <div className="turn-problem-bar">
        {runId && (
          <span>
            Run <Id>{runId}</Id>
          </span>
        )}
        {requestId && (
          <span>
            Request <Id>{requestId}</Id>
          </span>
        )}
        {onRepeat && (
          <Button
            icon="repeat"
            unavailable={seconds > 0 ? 'The limit has not reset yet.' : cannotRepeat}
            onClick={onRepeat}
          >
            {seconds > 0 ? `Send again in ${seconds} s` : 'Send again'}
          </Button>
        )}
      </div>
    </div>
  );
}
