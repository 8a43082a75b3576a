import type { ToolCallStatus } from '../../generated/operations/console.ts';
import type { Tool } from '../chat/turn.ts';
import type { IconName } from '../parts/icon.tsx';
import { Status } from '../parts/status.tsx';
import type { Tone } from '../parts/tone.ts';

/** The states of a call, for a visitor. A call that succeeded has no words beside its label. */
const STATES: Record<ToolCallStatus, { words: string; icon: IconName; tone: Tone }> = {
  RUNNING: { words: 'in progress', icon: 'dashed', tone: 'off' },
  COMPLETED: { words: '', icon: 'check', tone: 'off' },
  WAITING: { words: 'waits for a person', icon: 'clock', tone: 'warn' },
  FAILED: { words: 'did not work', icon: 'warning', tone: 'off' },
  UNKNOWN: { words: 'did not work', icon: 'warning', tone: 'off' },
  DENIED: { words: 'was not done', icon: 'barred', tone: 'off' },
  EXPIRED: { words: 'was not done', icon: 'barred', tone: 'off' },
  REFUSED: { words: 'was not done', icon: 'barred', tone: 'off' },
};

/** The calls of tools that have a label for visitors. Names of tools mean nothing to visitors, so others are not shown. */
export function LabelledTools({ tools }: { tools: Tool[] }) {
  const labelled = tools.filter(({ label }) => label);
  if (labelled.length === 0) return null;
  return (
    <ul className="message-tools">
      {labelled.map(({ callId, label, status = 'COMPLETED' }) => {
        const { words, icon, tone } = STATES[status];
        return (
          <li key={callId} dir="auto">
            <Status icon={icon} tone={tone}>
              {words === '' ? label : `${label}: ${words}`}
            </Status>
          </li>
        );
      })}
    </ul>
  );
}
