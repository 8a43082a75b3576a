import type {
  ChannelStatus,
  ChannelWithStateFragment,
} from '../../generated/operations/console.ts';
import { Badge } from '../parts/badge.tsx';
import type { Tone } from '../parts/tone.ts';
import './channel-states.css';

const NAMES: Record<ChannelWithStateFragment['channel'], string> = {
  API: 'API',
  WEB: 'Web',
  TELEGRAM: 'Telegram',
};

const LOOKS: Record<ChannelStatus, [Tone, string]> = {
  CONNECTED: ['good', 'connected'],
  PENDING: ['live', 'is being connected'],
  UNAVAILABLE: ['bad', 'unavailable'],
};

/** The channels of a deployment, each with its state and its problem. */
export function ChannelStates({ states }: { states: ChannelWithStateFragment[] }) {
  return (
    <ul className="channel-states">
      {states.map(({ channel, status, problem }) => {
        const [tone, word] = LOOKS[status];
        return (
          <li key={channel}>
            <Badge tone={problem && status === 'CONNECTED' ? 'warn' : tone}>
              {`${NAMES[channel]} ${word}`}
            </Badge>
            {problem && <p>{problem}</p>}
          </li>
        );
      })}
    </ul>
  );
}
