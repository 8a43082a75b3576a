import { useEffect, useRef, useState } from 'react';
import type { ExportFormat, RunFilter } from '../../../../generated/operations/console.ts';
import { quantity } from '../../../numbers.ts';
import { Button } from '../../../parts/button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { Segments } from '../../../parts/segments.tsx';
import { FILTER_NAMES, type FilterName, type Filters, RANGES } from '../../../runs/filter.ts';
import { serverNow } from '../../../server/clock.ts';
import { CHIPS, type ChipName } from '../filter-chips.ts';
import { type ExportEnd, exportRuns, type Progress } from './export-runs.ts';
import './export.css';
import { FileProblem } from './file-target.ts';
import { openTarget } from './open-target.ts';

const FORMATS: Record<ExportFormat, { label: string; ending: string; type: string }> = {
  CSV: { label: 'CSV', ending: 'csv', type: 'text/csv' },
  JSON_LINES: { label: 'JSON lines', ending: 'jsonl', type: 'application/jsonl' },
};

type State =
  | { phase: 'asking'; message?: string }
  | { phase: 'writing'; progress: Progress }
  | { phase: 'over'; end: ExportEnd; progress: Progress };

/** Exports the runs that the filters select to a file. */
export default function ExportDialog({
  botId,
  filter,
  filters,
  onClose,
}: {
  botId: string;
  filter: RunFilter;
  filters: Filters;
  onClose(): void;
}) {
  const [format, setFormat] = useState<ExportFormat>('CSV');
  const [state, setState] = useState<State>({ phase: 'asking' });
  const controller = useRef<AbortController>(undefined);
  useEffect(() => () => controller.current?.abort(), []);

  const start = async () => {
    const { ending, type } = FORMATS[format];
    const day = new Date(serverNow()).toISOString().slice(0, 10);
    try {
      const target = await openTarget(`${botId}-runs-${day}.${ending}`, type);
      if (!target) return;
      const aborter = new AbortController();
      controller.current = aborter;
      let progress: Progress = { rows: 0, bytes: 0 };
      setState({ phase: 'writing', progress });
      const onProgress = (now: Progress) => {
        progress = now;
        setState({ phase: 'writing', progress });
      };
      const request = { botId, filter, format };
      const end = await exportRuns(request, target, { signal: aborter.signal, onProgress });
      setState({ phase: 'over', end, progress });
    } catch (error) {
      if (!(error instanceof FileProblem)) throw error;
      setState({ phase: 'asking', message: error.message });
    }
  };
  const isWriting = state.phase === 'writing';
  return (
    <Dialog title="Export runs" onClose={isWriting ? undefined : onClose}>
      {state.phase === 'asking' ? (
        <>
          <Segments<ExportFormat>
            label="Format"
            options={[
              { name: 'CSV', label: FORMATS.CSV.label },
              { name: 'JSON_LINES', label: FORMATS.JSON_LINES.label },
            ]}
            current={format}
            onChange={setFormat}
          />
          <FilterWords filters={filters} />
          <p className="faint">
            Newest first, at most 1,000,000 runs, with the whole texts. Runs that begin meanwhile
            are not in the file.
          </p>
          {state.message && <p role="alert">{state.message}</p>}
        </>
      ) : (
        <Course state={state} />
      )}
      <p className="export-actions">
        {isWriting ? (
          <Button onClick={() => controller.current?.abort()}>Cancel the export</Button>
        ) : (
          <Button onClick={onClose}>Close</Button>
        )}
        {state.phase === 'asking' && (
          <Button look="primary" onClick={() => void start()}>
            Export
          </Button>
        )}
        {state.phase === 'over' && state.end.kind !== 'done' && (
          <Button look="primary" onClick={() => setState({ phase: 'asking' })}>
            Export again
          </Button>
        )}
      </p>
    </Dialog>
  );
}

function Course({ state }: { state: Exclude<State, { phase: 'asking' }> }) {
  const { rows, bytes } = state.progress;
  const runs = quantity(rows, 'run');
  if (state.phase === 'writing')
    return (
      <p className="number" aria-busy="true">
        {runs} written, {sizeOf(bytes)}…
      </p>
    );
  const { end } = state;
  if (end.kind === 'cancelled') return <p role="status">Cancelled. No file is left.</p>;
  if (end.kind === 'done')
    return (
      <div role="status">
        <p>
          <span className="mono">{end.file}</span> has {runs}, {sizeOf(bytes)}.
        </p>
        {end.isTruncated && (
          <p className="export-warning">
            More runs match, but a file has at most 1,000,000. Narrow the filters to export the
            others.
          </p>
        )}
      </div>
    );
  return (
    <div role="alert">
      <p>{end.message}</p>
      {end.file ? (
        <p className="export-warning">
          <span className="mono">{end.file}</span> is not complete: it has only the first {runs}.
        </p>
      ) : (
        <p>No file is left.</p>
      )}
      {end.problem?.requestId && <p className="mono faint">{end.problem.requestId}</p>}
    </div>
  );
}

const WORDS: Record<Exclude<FilterName, ChipName>, string> = {
  text: 'search',
  range: 'time',
  date: 'UTC day',
  from: 'from',
  to: 'until',
  environment: 'environment',
};

/** The conditions on the runs of the file. */
function FilterWords({ filters: { values, faults } }: { filters: Filters }) {
  const valid = FILTER_NAMES.filter((name) => values[name] && !faults[name]);
  if (valid.length === 0) return <p>All runs of this bot.</p>;
  const isChip = (name: FilterName): name is ChipName => name in CHIPS;
  return (
    <>
      <p>The runs that match:</p>
      <dl className="pairs">
        {valid.map((name) => (
          <div key={name}>
            <dt>{isChip(name) ? CHIPS[name].label : WORDS[name]}</dt>
            <dd className="mono">
              {name === 'range' ? RANGES[values[name] ?? '']?.label : values[name]}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function sizeOf(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${Math.round(bytes / 1_000).toLocaleString('en')} kB`;
  return `${(bytes / 1_000_000).toLocaleString('en', { maximumFractionDigits: 1 })} MB`;
}
