import './faults.css';

/** The invalid parameters of the address, each with its problem. */
export function Faults({
  faults,
  effect,
}: {
  /** The problems by the names of the parameters. */
  faults: Readonly<Record<string, string | undefined>>;
  /** What holds in place of such a parameter, as a sentence. */
  effect: string;
}) {
  const wrong = Object.entries(faults).filter(([, fault]) => fault);
  if (wrong.length === 0) return null;
  return (
    <div className="faults" role="alert">
      <ul>
        {wrong.map(([name, fault]) => (
          <li key={name}>
            <span className="mono">{name}</span> {fault} {effect}
          </li>
        ))}
      </ul>
    </div>
  );
}
