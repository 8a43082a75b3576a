import { Button, ButtonLink } from '../../parts/button.tsx';
import { comparisonAddress } from './address.ts';

/** The deployments that are selected for a comparison, and the way to it. */
export function SelectionBar({
  botId,
  selected: [one = '', two],
  names,
  onClear,
}: {
  botId: string;
  selected: readonly string[];
  /** The names of the listed deployments by their ids. */
  names: ReadonlyMap<string, string>;
  onClear(): void;
}) {
  const nameOf = (id: string) => names.get(id) ?? `…${id.slice(-6)}`;
  return (
    <div className="selection">
      <p role="status">
        {two
          ? `${nameOf(one)} and ${nameOf(two)} are selected.`
          : `${nameOf(one)} is selected. Select the deployment to compare it with.`}
      </p>
      <span className="selection-actions">
        {two && (
          <ButtonLink href={comparisonAddress(botId, one, two)} look="primary">
            Compare
          </ButtonLink>
        )}
        <Button look="quiet" onClick={onClear}>
          Clear the selection
        </Button>
      </span>
    </div>
  );
}
