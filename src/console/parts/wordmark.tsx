import './wordmark.css';

export function Wordmark() {
  return (
    <span className="wordmark">
      <svg aria-hidden="true" width="20" height="20" viewBox="0 0 24 24" fill="none">
        <g stroke="currentColor" strokeWidth="2.2" strokeLinejoin="round" strokeLinecap="round">
          <path d="M4 4h10a5 5 0 0 1 0 10H9l-5 4z" />
          <path d="M20 9v9l-3-2.6" />
        </g>
      </svg>
      Parley
    </span>
  );
}
