import greeter from './examples/greeter.agent?raw';
import interviewer from './examples/interviewer.agent?raw';

/** Definitions that work as they are, without variables. */
export const EXAMPLES = [
  { name: 'Greeter', source: greeter },
  { name: 'Interviewer', source: interviewer },
  { name: 'Empty', source: '' },
];
