import type { Channel, Entrance, Run } from '../../generated/prisma/client.ts';

/** The only channel that an entrance leads to. */
export function channelOf(entrance: Entrance): Channel {
  return entrance === 'WEB' || entrance === 'TELEGRAM' ? entrance : 'API';
}

/**
 * The entrance of a run. For runs of the channels WEB and TELEGRAM, also for runs from before the entrance was stored, it is
 * the channel.
 *
 * @returns null if it is not known.
 */
export function entranceOf({
  entrance,
  channel,
}: Pick<Run, 'entrance' | 'channel'>): Entrance | null {
  return channel === 'API' ? entrance : channel;
}
