/** Below the editor: where the text is kept, the reference of the language, and the keys that cannot be guessed. */
export function StatusBar({ isChanged, isKept }: { isChanged: boolean; isKept: boolean }) {
  return (
    <footer className="studio-status">
      <span role="status">
        {!isChanged
          ? ''
          : isKept
            ? 'Your changes are kept in this browser.'
            : 'This browser cannot keep your changes. Deploy or copy them before you leave.'}
      </span>
      <a href="/guide/language" target="_blank" rel="noreferrer">
        Language reference
      </a>
      <span className="studio-keys">
        <kbd>Esc</kbd> then <kbd>Tab</kbd> leaves the editor · <kbd>F2</kbd> renames · <kbd>F8</kbd>{' '}
        next problem
      </span>
    </footer>
  );
}
