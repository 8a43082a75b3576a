import { BotNames } from '../../../../operations/console/operations.ts';
import { Choice, Choices } from '../../../parts/choices.tsx';
import { Refused, Skeleton } from '../../../parts/state.tsx';
import { useServerQuery } from '../../../server/operations.ts';
import { useViewer } from '../../../server/viewer.ts';

/** Bots that one key may be restricted to, and bots of one page. */
const MOST = 100;

type Named = { id: string; name: string };

/** The bots that a key may use: all of the account, or some. */
export function BotsField({
  chosen,
  known,
  onChange,
}: {
  /** `null`: every bot of the account. */
  chosen: string[] | null;
  /** Bots of the key, which may be missing in the first page of the list. */
  known: Named[];
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
  known: Named[];
  onChange(chosen: string[]): void;
}) {
  const { data, problem } = useServerQuery(BotNames, { first: MOST, after: null });
  if (!data) return problem ? <Refused problem={problem} /> : <Skeleton height={60} />;
  const listed: Named[] = data.bots.edges.map(({ node }) => node);
  const missing = known.filter(({ id }) => listed.every((bot) => bot.id !== id));
  const bots = [...missing, ...listed];
  if (bots.length === 0) return <p className="faint">The account has no bots.</p>;
  return (
    <div className="choices-scroll">
      {bots.map(({ id, name }) => (
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
      {data.bots.pageInfo.hasNextPage && (
        <p className="faint">These are the newest {MOST} bots. GraphQL can name the others.</p>
      )}
    </div>
  );
}
