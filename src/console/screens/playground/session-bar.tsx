import { useState } from 'react';
import { isSessionId, SESSION_ID_RULE } from '../../chat/session-id.ts';
import type { Fact } from '../../chat/stored-turns.ts';
import { quantity } from '../../numbers.ts';
import { Button } from '../../parts/button.tsx';
import { isEnter } from '../../parts/is-enter.ts';
import './session-bar.css';

/** Names the conversation, and begins another one. */
export function SessionBar({
  sessionId,
  facts,
  onChange,
  onBegin,
}: {
  sessionId: string;
  facts: Fact[];
  onChange(sessionId: string): void;
  onBegin(): void;
}) {
  const [typed, setTyped] = useState(sessionId);
  const id = typed.trim();
  const isWrong = !isSessionId(id);
  const commit = () => {
    if (id === '') setTyped(sessionId);
    else if (!isWrong && id !== sessionId) onChange(id);
  };
  return (
    <div className="session-bar">
      <label className="chip session-id">
        session
        <input
          className="mono"
          aria-label="Session id"
          aria-invalid={isWrong || undefined}
          title={isWrong ? SESSION_ID_RULE : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={({ target }) => setTyped(target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (isEnter(event)) commit();
            if (event.key === 'Escape') setTyped(sessionId);
          }}
        />
      </label>
      {isWrong && (
        <span className="session-fault" role="alert">
          no spaces, 1 to 256 visible characters
        </span>
      )}
      {facts.length > 0 && (
        <details className="session-facts">
          <summary className="chip chip-button">{quantity(facts.length, 'fact')}</summary>
          <dl>
            {facts.map(({ name, value }) => (
              <div key={name}>
                <dt className="mono">{name}</dt>
                <dd dir="auto">{value}</dd>
              </div>
            ))}
          </dl>
        </details>
      )}
      <span className="session-new">
        <Button look="quiet" icon="plus" onClick={onBegin}>
          New session
        </Button>
      </span>
    </div>
  );
}
