import { Dialog } from '../parts/dialog.tsx';
import './shortcuts-dialog.css';

/** The shortcuts by the places where they work. */
const GROUPS: { place: string; keys: [keys: string[], meaning: string][] }[] = [
  {
    place: 'Everywhere',
    keys: [
      [['Ctrl K', '⌘ K'], 'go to a bot, a screen or a run'],
      [['?'], 'show this list'],
      [['Esc'], 'close a dialog or a menu'],
    ],
  },
  {
    place: 'Runs',
    keys: [
      [['↑', '↓'], 'open the run before or after beside the list'],
      [['Enter'], 'open the page of the run'],
      [['←', '→'], 'move in a chart'],
      [['Shift ←', 'Shift →'], 'select a range in a chart, Enter shows its runs'],
    ],
  },
  {
    place: 'A run',
    keys: [
      [['↑', '↓'], 'select the step before or after'],
      [['Enter'], 'go to the details of the step'],
      [['C'], 'copy the output of the step'],
      [['J', 'K'], 'open the older or the newer run'],
    ],
  },
  {
    place: 'Approvals',
    keys: [
      [['J', 'K'], 'select the next or the previous call'],
      [['A', 'D'], 'approve or deny the call'],
    ],
  },
  {
    place: 'Studio',
    keys: [
      [['F2'], 'rename'],
      [['F8'], 'go to the next problem'],
      [['Esc', 'Tab'], 'leave the editor'],
    ],
  },
  { place: 'Guide', keys: [[['/'], 'search the headings']] },
];

export default function ShortcutsDialog({ onClose }: { onClose(): void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div className="shortcuts">
        {GROUPS.map(({ place, keys }) => (
          <section key={place} aria-label={place}>
            <h3>{place}</h3>
            <dl>
              {keys.map(([names, meaning]) => (
                <div key={meaning}>
                  <dt>
                    {names.map((name) => (
                      <kbd key={name}>{name}</kbd>
                    ))}
                  </dt>
                  <dd>{meaning}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
