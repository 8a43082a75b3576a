import { useEffect, useState } from 'react';

/** A problem of a definition, from this browser or from the server. */
export type Finding = {
  severity: 'ERROR' | 'WARNING';
  code: string;
  message: string;
  line: number;
  column: number;
};

type Reading = { findings: Finding[]; envNames: string[] };

const NOTHING: Reading = { findings: [], envNames: [] };

/** Reads a definition with the server's own language, which is loaded when it is first needed. */
export function useReading(source: string): Reading {
  const [reading, setReading] = useState(NOTHING);
  useEffect(() => {
    let isCurrent = true;
    void import('../../../language/read.ts').then(({ readDefinition }) => {
      if (!isCurrent) return;
      if (source.trim() === '') return setReading(NOTHING);
      const { diagnostics, envNames } = readDefinition(source);
      setReading({ findings: diagnostics, envNames });
    });
    return () => {
      isCurrent = false;
    };
  }, [source]);
  return reading;
}
