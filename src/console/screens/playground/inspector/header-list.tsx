import '../../../parts/pairs.css';
import type { Header } from '../../../server/recording.ts';

/** The headers of a request or a response. */
export function HeaderList({ headers }: { headers: Header[] }) {
  return (
    <dl className="pairs mono">
      {headers.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
