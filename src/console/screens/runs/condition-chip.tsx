import type { ReactNode } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Popover } from '../../parts/popover.tsx';

/** A chip that opens the choice of a condition, with a button that removes the condition. */
export function ConditionChip({
  label,
  text,
  isSet,
  isWrong,
  onRemove,
  onLeave,
  children,
  ...popover
}: {
  /** What the condition is about, in the names of the buttons. */
  label: string;
  text: string;
  isSet: boolean;
  isWrong: boolean;
  onRemove(): void;
  startsOpen?: boolean;
  /** Is called when the focus leaves the chip and its panel. */
  onLeave?: () => void;
  children(close: () => void): ReactNode;
}) {
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the focus of the elements inside is observed
    <span
      className={`filter${isWrong ? ' filter-wrong' : isSet ? ' filter-set' : ''}`}
      onBlur={({ currentTarget, relatedTarget }) => {
        // A window that loses the focus keeps its active element.
        const isInside = [relatedTarget, document.activeElement].some((element) =>
          currentTarget.contains(element),
        );
        if (!isInside) onLeave?.();
      }}
    >
      <Popover
        {...popover}
        label={`Filter by ${label}`}
        className="chip chip-button"
        button={<span className="cut">{text}</span>}
      >
        {children}
      </Popover>
      {isSet && (
        <button
          type="button"
          className="filter-remove"
          aria-label={`Remove the filter by ${label}`}
          onClick={onRemove}
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  );
}
