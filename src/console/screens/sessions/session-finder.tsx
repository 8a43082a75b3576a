import { useState } from 'react';
import { isSessionId, SESSION_ID_RULE } from '../../chat/session-id.ts';
import { Icon } from '../../parts/icon.tsx';

/** Opens the session whose id is typed. */
export function SessionFinder({ user, onFind }: { user: string; onFind(id: string): void }) {
  const [typed, setTyped] = useState(user);
  const [isWrong, setWrong] = useState(false);
  return (
    <search>
      <form
        className="session-finder"
        onSubmit={(event) => {
          event.preventDefault();
          const id = typed.trim();
          const isId = id === '' || isSessionId(id);
          setWrong(!isId);
          if (isId && id !== user) onFind(id);
        }}
      >
        <label className="session-search">
          <Icon name="search" size={13} />
          <input
            type="search"
            className="input"
            aria-label="Open the session of a user"
            aria-invalid={isWrong || undefined}
            aria-describedby="session-finder-note"
            placeholder="User or session id, then Enter"
            autoComplete="off"
            spellCheck={false}
            value={typed}
            onChange={({ target }) => {
              setTyped(target.value);
              setWrong(false);
            }}
          />
        </label>
        <p id="session-finder-note" className="session-finder-fault" aria-live="polite">
          {isWrong && SESSION_ID_RULE}
        </p>
      </form>
    </search>
  );
}
