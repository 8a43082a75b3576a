import './segments.css';

/** One choice of a few, all of them in sight. */
export function Segments<Name extends string>({
  label,
  options,
  current,
  isWrong = false,
  onChange,
}: {
  label: string;
  options: { name: Name; label: string }[];
  current: Name | undefined;
  /** Whether an invalid choice is left out. */
  isWrong?: boolean;
  onChange(name: Name): void;
}) {
  return (
    <fieldset className={isWrong ? 'segments segments-wrong' : 'segments'} aria-label={label}>
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
