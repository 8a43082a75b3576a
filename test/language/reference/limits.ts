import { expect } from 'vitest';
import { agentWith, codesOf, define } from '../helpers.ts';
import type { Sentences } from './sentences.ts';

const inLimits = (text: string) => agentWith(`  limits {\n${text}\n  }`);

export const LIMITS: Sentences = {
  'In `limits`, `tool_calls` is 0 to 64 for one run; the default is 8.': () => {
    expect(define(inLimits('tool_calls 0')).limits.toolCalls).toBe(0);
    expect(define(inLimits('tool_calls 64')).limits.toolCalls).toBe(64);
    expect(codesOf(inLimits('tool_calls 65'))).toEqual(['out-of-range']);
    expect(define(agentWith('')).limits.toolCalls).toBe(8);
  },
  '`run_time` is 1ms to 15m for one run; the default is 120s.': () => {
    expect(define(inLimits('run_time 1ms')).limits.runTime).toBe(1);
    expect(define(inLimits('run_time 15m')).limits.runTime).toBe(900_000);
    expect(codesOf(inLimits('run_time 901s'))).toEqual(['out-of-range']);
    expect(codesOf(inLimits('run_time 0s'))).toEqual(['out-of-range']);
    expect(define(agentWith('')).limits.runTime).toBe(120_000);
  },
};
