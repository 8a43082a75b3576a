import { useEffect, useState } from 'react';
import type { ParsedSource } from '../../language/read.ts';

/** A problem of a definition, from this browser or from the server. */
export type Finding = {
  severity: 'ERROR' | 'WARNING';
  code: string;
  message: string;
  line: number;
  column: number;
};

type ShownReading = {
  /** The variables that the definition names. */
  envNames: string[];
  /**
   * Lists the problems.
   *
   * @param given names of the variables that have a value. Without them, unset and unused variables are no problem.
   */
  diagnose(given?: readonly string[]): Finding[];
  /** Whether a definition was read. */
  isRead: boolean;
};

const NOTHING: ShownReading = { envNames: [], diagnose: () => [], isRead: false };

/** Reads a definition with the server's own language, which is loaded when it is first needed. */
export function useReading(source: string): ShownReading {
  const [reading, setReading] = useState<ParsedSource>();
  useEffect(() => {
    let isCurrent = true;
    void import('../../language/read.ts').then(({ readSource }) => {
      if (isCurrent) setReading(source.trim() === '' ? undefined : readSource(source));
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return reading ? { ...reading, isRead: true } : NOTHING;
}
