import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { lacks } from '../server/viewer.ts';
import { type PlacedPart, ROLES } from './steps.ts';

/** Characters that show at first. The rest shows on demand, because a long text is slow to lay out. */
const MOST = 20_000;
/** Characters up to which a part starts unfolded. */
const SHORT = 600;
/** Characters of the line of a folded part. The style sheet cuts it to the width. */
const LINE = 200;

/** A part of the prompt: its place, its role and its text, which unfolds. */
export function PromptPart({
  part: { place, role, text },
  isFound = false,
}: {
  part: PlacedPart;
  /** Whether a search found the part, which then starts unfolded. */
  isFound?: boolean;
}) {
  const [isOpen, setOpen] = useState(isFound || (text?.length ?? 0) <= SHORT);
  return (
    <li>
      <details
        className="prompt-part"
        open={isOpen}
        onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
      >
        <summary>
          <Icon name="chevron" size={12} />
          <span className="number faint" title="Place in the request to the model">
            {place}
          </span>
          <span className={`prompt-role prompt-role-${ROLES[role]}`}>{ROLES[role]}</span>
          <span className="prompt-line cut faint" dir="auto">
            {!isOpen && text?.slice(0, LINE)}
          </span>
          <span className="number faint">
            {text === null ? 'hidden' : `${text.length.toLocaleString('en')} characters`}
          </span>
        </summary>
        {isOpen && <PartText text={text} name={`part ${place}`} />}
      </details>
    </li>
  );
}

function PartText({ text, name }: { text: string | null; name: string }) {
  const [isWhole, setWhole] = useState(false);
  if (text === null)
    return (
      <p className="prompt-text faint">
        The prompt of the definition is part of its source. {lacks('DEPLOY')}
      </p>
    );
  if (text === '') return <p className="prompt-text faint">No text.</p>;
  const isCut = text.length > MOST && !isWhole;
  return (
    <div className="prompt-text">
      <CopyButton label={`Copy ${name}`} text={text} />
      <p className="mono" dir="auto">
        {isCut ? text.slice(0, MOST) : text}
      </p>
      {isCut && (
        <Button onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString('en')} characters
        </Button>
      )}
    </div>
  );
}
