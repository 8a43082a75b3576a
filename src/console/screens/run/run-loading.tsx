import { Skeleton } from '../../parts/state.tsx';
import './run.css';

/** Holds the place of a run that is being read. */
export function RunLoading() {
  return (
    <div className="run" aria-busy="true">
      <div className="run-main">
        <Skeleton width="64px" />
        <Skeleton width="70%" height={20} />
        <Skeleton width="64px" />
        <Skeleton height={60} />
        <Skeleton height={140} />
      </div>
      <div className="run-side">
        <Skeleton height={240} />
      </div>
    </div>
  );
}
