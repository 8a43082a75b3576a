import { Link } from 'wouter';
import { environmentQuery } from '../../../frame/environments.ts';
import { Segments } from '../../../parts/segments.tsx';
import { Refused } from '../../../parts/state.tsx';
import type { SideChoice } from '../sides.ts';
import { SidePicker } from './side-picker.tsx';
import type { SideChat, SideName } from './use-side-chat.ts';

const SHOWN = [
  { name: 'marked' as const, label: 'Differences' },
  { name: 'plain' as const, label: 'Replies' },
];

/** Names both sides, and chooses others. */
export function CompareHead({
  botId,
  both,
  isMarked,
  onMarked,
  onChoose,
}: {
  botId: string;
  both: SideChat[];
  isMarked: boolean;
  onMarked(isMarked: boolean): void;
  onChoose(at: SideName, choice: SideChoice): void;
}) {
  const [left, right] = both;
  if (!left || !right) return null;
  return (
    <div className="compare-head">
      <HeadCell botId={botId} own={left} other={right} onChoose={onChoose} />
      <span className="compare-shown">
        <Segments
          label="Show"
          options={SHOWN}
          current={isMarked ? 'marked' : 'plain'}
          onChange={(name) => onMarked(name === 'marked')}
        />
      </span>
      <HeadCell botId={botId} own={right} other={left} onChoose={onChoose} />
    </div>
  );
}

function HeadCell({
  botId,
  own: { at, choice, side },
  other,
  onChoose,
}: {
  botId: string;
  own: SideChat;
  other: SideChat;
  onChoose(at: SideName, choice: SideChoice): void;
}) {
  const { detail, missing, problem, environment } = side;
  return (
    <div className="compare-head-cell">
      <div className="compare-head-line">
        <SidePicker
          botId={botId}
          label={at === 'left' ? 'Left side' : 'Right side'}
          current={choice}
          other={other.choice}
          onChange={(chosen) => onChoose(at, chosen)}
        />
        {choice.kind === 'environment' && detail && <span className="soft">{detail}</span>}
      </div>
      {missing && (
        <p className="compare-missing">
          {missing}{' '}
          {choice.kind === 'draft' && (
            <Link href={`/bots/${botId}/studio${environmentQuery(environment)}`}>
              Open the Studio
            </Link>
          )}
        </p>
      )}
      <Refused problem={problem} />
      {choice.kind === 'deployment' && !missing && !problem && (
        <p className="faint">Its definition, with the variables of {environment.toLowerCase()}.</p>
      )}
    </div>
  );
}
