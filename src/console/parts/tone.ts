/** The colour of a state. */
export type Tone = 'good' | 'bad' | 'live' | 'warn' | 'off';
