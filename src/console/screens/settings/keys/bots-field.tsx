import { useState } from 'react';
import { Choice, Choices } from '../../../parts/choices.tsx';
import { TextField } from '../../../parts/field.tsx';
import { Refused, Skeleton } from '../../../parts/state.tsx';
import { matches, type NamedBot, useBotNames } from '../../../server/bot-names.ts';
import { useViewer } from '../../../server/viewer.ts';

/** Bots that one key may be restricted to. */
const MOST = 100;

/** The bots that a key may use: all of the account, or some. */
export function BotsField({
  chosen,
  known,
  onChange,
}: {
  /** `null`: every bot of the account. */
  chosen: string[] | null;
  /** Bots of the key, which the list may lack. */
  known: NamedBot[];
  onChange(chosen: string[] | null): void;
}) {
  const isRestricted = useViewer().apiKey.bots !== null;
  return (
    <Choices label="Bots">
      <Choice
        type="radio"
        name="bots"
        label="Every bot of the account"
        isChosen={chosen === null}
        unavailable={isRestricted && 'Your key is restricted to some bots.'}
        onChange={() => onChange(null)}
      />
      <Choice
        type="radio"
        name="bots"
        label="Only some bots"
        isChosen={chosen !== null}
        onChange={() => onChange(known.map(({ id }) => id))}
      />
      {chosen && <BotList chosen={chosen} known={known} onChange={onChange} />}
    </Choices>
  );
}

function BotList({
  chosen,
  known,
  onChange,
}: {
  chosen: string[];
  known: NamedBot[];
  onChange(chosen: string[]): void;
}) {
  const [search, setSearch] = useState('');
  const { bots: listed, hasMore, problem } = useBotNames(search);
  if (!listed) return problem ? <Refused problem={problem} /> : <Skeleton height={60} />;
  const missing = known.filter(({ id }) => listed.every((bot) => bot.id !== id));
  const bots = [...missing, ...listed];
  if (bots.length === 0) return <p className="faint">The account has no bots.</p>;
  const shown = bots.filter((bot) => matches(bot, search));
  return (
    <>
      {hasMore && (
        <TextField
          label="Find bots"
          type="search"
          hint={`The newest ${MOST} bots are listed. Search by name or id to find others.`}
          value={search}
          onChange={({ target }) => setSearch(target.value)}
        />
      )}
      <div className="choices-scroll">
        {shown.map(({ id, name }) => (
          <Choice
            key={id}
            label={
              <>
                {name} <span className="mono faint">{id}</span>
              </>
            }
            isChosen={chosen.includes(id)}
            unavailable={
              chosen.length >= MOST && !chosen.includes(id) && `A key has at most ${MOST} bots.`
            }
            onChange={(isChosen) =>
              onChange(isChosen ? [...chosen, id] : chosen.filter((one) => one !== id))
            }
          />
        ))}
        {shown.length === 0 && <p className="faint">No bot has this name or id.</p>}
      </div>
    </>
  );
}
