import { useState } from 'react';
import type { KeyScope } from '../../generated/operations/console.ts';
import { Button } from '../parts/button.tsx';
import { Refused } from '../parts/state.tsx';
import { useBotNames } from '../server/bot-names.ts';
import { createHourKey } from '../server/hour-key.ts';
import type { Problem } from '../server/problem.ts';
import { lacks, type Viewer } from '../server/viewer.ts';

/** Makes a key for the forms of the REST API reference, so that an example runs with two clicks. */
export function ReferenceKey({ viewer: { apiKey } }: { viewer: Viewer }) {
  const { bots } = useBotNames('');
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const [isMade, setMade] = useState(false);
  const make = async () => {
    setBusy(true);
    const { key, problem: refusal } = await createHourKey({
      name: 'REST API reference, 1 hour',
      scopes: apiKey.scopes.filter((scope: KeyScope) => scope !== 'OPERATOR'),
      ...(apiKey.bots && { botIds: apiKey.bots.map(({ id }) => id) }),
    });
    setBusy(false);
    setProblem(refusal);
    if (!key) return;
    fill('#key', key.secret);
    const bot = bots?.[0];
    if (bot) fill('form[data-path^="/v1/bots/{id}"] [data-in="path"][name="id"]', bot.id);
    setMade(true);
  };
  return (
    <div className="key-of-session">
      <Button
        isBusy={isBusy}
        unavailable={!apiKey.scopes.includes('ADMIN') && lacks('ADMIN')}
        onClick={() => void make()}
      >
        Make a key for one hour
      </Button>
      <p role="status">
        {isMade && 'The key is in the field, and the examples name your newest bot.'}
      </p>
      <Refused problem={problem} />
    </div>
  );
}

/** Sets the values of fields of the page, which the server rendered. */
function fill(selector: string, value: string): void {
  for (const field of document.querySelectorAll<HTMLInputElement>(selector)) field.value = value;
}
