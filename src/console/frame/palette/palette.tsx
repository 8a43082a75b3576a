import { useId, useMemo, useState } from 'react';
import { Modal } from '../../parts/dialog.tsx';
import { Icon } from '../../parts/icon.tsx';
import { isEnter } from '../../parts/is-enter.ts';
import { useViewer } from '../../server/viewer.ts';
import { type Command, findCommands } from './command.ts';
import './palette.css';
import { noteCommand, recentCommands } from './recent.ts';
import { useCommands } from './use-commands.ts';

/**
 * Finds a bot, a screen or an action by a few letters. The focus stays in the text; the arrow keys choose.
 * Source: WAI-ARIA Authoring Practices, "Combobox Pattern", with a listbox popup.
 */
export default function Palette({ onClose }: { onClose(): void }) {
  const { account } = useViewer();
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState<string>();
  const { commands, note } = useCommands(text.trim());
  const recent = useMemo(() => recentCommands(account.id), [account.id]);
  const groups = useMemo(() => findCommands(commands, text, recent), [commands, text, recent]);
  const found = groups.flatMap((group) => group.commands);
  const active = found.find(({ id }) => id === chosen) ?? found[0];
  const id = useId();
  const idOf = (command: Command) => `${id}-${command.id}`;
  const run = (command: Command) => {
    onClose();
    noteCommand(account.id, command.id);
    command.run();
  };
  const move = (step: number) => {
    const at = active ? found.indexOf(active) : 0;
    setChosen(found[(at + step + found.length) % found.length]?.id);
  };
  return (
    <Modal className="dialog palette" aria-label="Go to" onClose={onClose}>
      <div className="palette-text">
        <Icon name="search" />
        <input
          role="combobox"
          aria-label="Go to a bot, a screen or an action"
          aria-expanded={found.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={active && idOf(active)}
          aria-autocomplete="list"
          autoComplete="off"
          spellCheck={false}
          placeholder="Go to a bot, a screen or an action"
          value={text}
          onChange={({ target }) => {
            setText(target.value);
            setChosen(undefined);
          }}
          onKeyDown={(event) => {
            const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
            if (step) move(step);
            else if (isEnter(event) && active) run(active);
            else return;
            event.preventDefault();
          }}
        />
      </div>
      <div id={`${id}-list`} className="palette-list" role="listbox" aria-label="Commands">
        {groups.map(({ heading, commands: inside }) => (
          // biome-ignore lint/a11y/useSemanticElements: a listbox allows no fieldset
          <div key={heading} role="group" aria-label={heading}>
            {text.trim() === '' && (
              <p className="palette-heading" aria-hidden="true">
                {heading}
              </p>
            )}
            {inside.map((command) => (
              <Option
                key={command.id}
                id={idOf(command)}
                command={command}
                isActive={command === active}
                hasGroup={text.trim() !== ''}
                onHover={() => setChosen(command.id)}
                onRun={() => run(command)}
              />
            ))}
          </div>
        ))}
      </div>
      <p className="palette-note" role="status">
        {note ?? (found.length === 0 ? 'No match. Paste a run id to find its bot.' : '')}
        <span className="unseen">{found.length} found</span>
      </p>
      <p className="palette-keys" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> choose <kbd>⏎</kbd> open <kbd>Esc</kbd> close
      </p>
    </Modal>
  );
}

function Option({
  id,
  command,
  isActive,
  hasGroup,
  onHover,
  onRun,
}: {
  id: string;
  command: Command;
  isActive: boolean;
  /** Whether to name its group, which no heading does. */
  hasGroup: boolean;
  onHover(): void;
  onRun(): void;
}) {
  const { icon, label, detail, group } = command;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the focus stays in the text, whose keys choose and run
    <div
      ref={isActive ? scrollHere : undefined}
      id={id}
      className="palette-option"
      role="option"
      tabIndex={-1}
      aria-selected={isActive}
      onPointerMove={onHover}
      onClick={onRun}
    >
      <Icon name={icon} />
      <span className="cut">{label}</span>
      {detail && <span className="mono faint cut">{detail}</span>}
      {hasGroup && <span className="palette-group">{group}</span>}
    </div>
  );
}

function scrollHere(option: HTMLElement | null): void {
  option?.scrollIntoView({ block: 'nearest' });
}
