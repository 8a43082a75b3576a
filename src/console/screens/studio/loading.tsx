import { Skeleton } from '../../parts/state.tsx';

/** Holds the place of the editor while it loads. */
export function Loading() {
  return (
    <div className="studio-loading" aria-busy="true">
      {[120, 180, 320, 260, 300, 140].map((width) => (
        <Skeleton key={width} width={`${width}px`} />
      ))}
    </div>
  );
}
