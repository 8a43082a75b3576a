import { each } from './each.ts';
import './sparkline.css';

type Bar = { runs: number; failed: number };

const WIDTH = 4;
const HEIGHT = 22;

/** Runs by hour as bars, the failed ones red at their feet. */
export function Sparkline({ bars, label }: { bars: Bar[]; label: string }) {
  const most = Math.max(1, ...bars.map(({ runs }) => runs));
  const heightOf = (count: number) => (count === 0 ? 0 : Math.max(2, (count / most) * HEIGHT));
  const width = bars.length * WIDTH;
  return (
    <svg
      className="sparkline"
      role="img"
      aria-label={label}
      width={width}
      height={HEIGHT}
      viewBox={`0 0 ${width} ${HEIGHT}`}
    >
      {each(bars, ({ runs, failed }, at) => {
        const x = at * WIDTH;
        return (
          <g>
            <rect className="bar-none" x={x} y={HEIGHT - 1} width={WIDTH - 1} height={1} />
            <rect
              className="bar-runs"
              x={x}
              y={HEIGHT - heightOf(runs)}
              width={WIDTH - 1}
              height={heightOf(runs)}
            />
            <rect
              className="bar-failed"
              x={x}
              y={HEIGHT - heightOf(failed)}
              width={WIDTH - 1}
              height={heightOf(failed)}
            />
          </g>
        );
      })}
    </svg>
  );
}
