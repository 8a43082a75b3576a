import './state.css';

/** Says which stored settings have changed while a person edited them, and what saving does. */
export function SettingsConflict({ values }: { values: readonly (readonly [string, string])[] }) {
  return (
    <div className="refused" role="alert">
      <p>
        Somebody else changed these settings while you edited them. Your text is kept. Save again to
        replace the stored values:
      </p>
      <ul>
        {values.map(([label, value]) => (
          <li key={label}>
            {label}: <span className="mono">{value || 'none'}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
