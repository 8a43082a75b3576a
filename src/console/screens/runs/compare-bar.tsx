import { Link, useSearchParams } from 'wouter';
import { Button } from '../../parts/button.tsx';

/** Says that the next chosen run is compared with another one. */
export function CompareBar({ id }: { id: string }) {
  const [, setSearch] = useSearchParams();
  const cancel = () =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('compare');
      return next;
    });
  return (
    <p className="runs-compare" role="status">
      <span>
        Choose the run to compare with{' '}
        <Link href={`/runs/${id}`} className="mono">
          …{id.slice(-6)}
        </Link>
        .
      </span>
      <Button look="quiet" onClick={cancel}>
        Cancel
      </Button>
    </p>
  );
}
