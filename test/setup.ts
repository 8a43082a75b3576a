import { afterAll } from 'vitest';
import { endFile } from './helpers/at-the-end.ts';

afterAll(endFile);
