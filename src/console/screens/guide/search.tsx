import { pages } from 'virtual:guide';
import { matchSorter } from 'match-sorter';
import { type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { isEnter } from '../../parts/is-enter.ts';
import { goTo } from './go-to.ts';
import './search.css';

const MAX_RESULTS = 12;

type Target = { address: string; page: string; text: string };

const TARGETS: Target[] = pages.flatMap(({ slug, title, headings }) => [
  { address: `/guide/${slug}`, page: title, text: title },
  ...headings.map(({ id, text }) => ({ address: `/guide/${slug}#${id}`, page: title, text })),
]);

/** Searches the headings of all pages. `/` leads to it, arrow keys choose, Enter opens, Escape leaves. */
export function GuideSearch() {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(0);
  useSlash(input);
  const query = text.trim();
  const results = query ? search(query).slice(0, MAX_RESULTS) : [];

  const choose = (target: Target | undefined) => {
    if (!target) return;
    setOpen(false);
    setText('');
    input.current?.blur();
    goTo(target.address);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && results.length > 0) {
      event.preventDefault();
      setOpen(true);
      setChosen((chosen + step + results.length) % results.length);
    }
    if (isEnter(event)) choose(results[chosen]);
    if (event.key === 'Escape') {
      if (!isOpen) input.current?.blur();
      setOpen(false);
      setText('');
    }
  };
  const shows = isOpen && query !== '';
  return (
    <search className="guide-search">
      <input
        ref={input}
        className="input"
        type="text"
        role="combobox"
        aria-label="Search the guide"
        aria-expanded={shows}
        aria-controls={`${id}-results`}
        aria-autocomplete="list"
        aria-activedescendant={shows && results.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder="Search the guide"
        autoComplete="off"
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          setChosen(0);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => setOpen(false)}
        onKeyDown={press}
      />
      <kbd title="Press / to search">/</kbd>
      <div className="guide-results" hidden={!shows}>
        <div id={`${id}-results`} role="listbox" aria-label="Headings">
          {results.map((target, at) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
            <div
              key={target.address}
              id={`${id}-${at}`}
              role="option"
              tabIndex={-1}
              aria-selected={at === chosen}
              // The field keeps the focus, so that the list stays open for the click.
              onMouseDown={(event) => event.preventDefault()}
              onClick={() => choose(target)}
            >
              <span className="cut">{target.text}</span>
              <span className="faint cut">{target.page}</span>
            </div>
          ))}
        </div>
        <p role="status">{results.length === 0 ? `No heading matches “${query}”.` : ''}</p>
      </div>
    </search>
  );
}

/** The headings with the letters of the text in their order, the closest first. */
function search(text: string): Target[] {
  return matchSorter(TARGETS, text, { keys: ['text', ({ page, text: own }) => `${page} ${own}`] });
}

/** Moves the focus to a field when `/` is pressed outside fields. */
function useSlash(input: React.RefObject<HTMLInputElement | null>): void {
  useLayoutEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      const isTyping = (event.target as Element).matches(
        'input, textarea, select, [contenteditable]',
      );
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', listen);
    return () => removeEventListener('keydown', listen);
  }, [input]);
}
