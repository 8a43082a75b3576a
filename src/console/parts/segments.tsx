import './segments.css';

/** One choice of a few, all of them in sight. */
export function Segments<Name extends string>({
  label,
  options,
  current,
  onChange,
}: {
  label: string;
  options: { name: Name; label: string }[];
  current: Name | undefined;
  onChange(name: Name): void;
}) {
  return (
    <fieldset className="segments" aria-label={label}>
      {options.map(({ name, label: text }) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === current}
          onClick={() => onChange(name)}
        >
          {text}
        </button>
      ))}
    </fieldset>
  );
}
