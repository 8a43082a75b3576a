import { readFileSync } from 'node:fs';
import {
  type Copy,
  DockerfileParser,
  type Instruction,
  type PropertyInstruction,
} from 'dockerfile-ast';

/** One `COPY`. */
export type CopyLine = { from: string | undefined; sources: string[]; target: string };

/** A stage of the Dockerfile: the lines that a build executes, and the settings of its image. */
export type Stage = {
  image: string;
  workdir: string;
  user: string | undefined;
  /** The `COPY` and `RUN` lines in their order. */
  steps: ({ copy: CopyLine } | { run: string })[];
  variables: [name: string, value: string][];
  /** The words of `CMD` and of the health check. */
  command: string[];
  healthCheck: string[];
};

const DOCKERFILE = new URL('../../Dockerfile', import.meta.url);

export function readStages(): Stage[] {
  const stages: Stage[] = [];
  for (const line of DockerfileParser.parse(readFileSync(DOCKERFILE, 'utf8')).getInstructions()) {
    const words = line.getArguments().map((word) => word.getValue());
    if (line.getInstruction() === 'FROM') stages.push(newStage(words[0] ?? ''));
    const stage = stages.at(-1);
    if (stage) apply(line, words, stage);
  }
  return stages;
}

const newStage = (image: string): Stage => ({
  image,
  workdir: '/',
  user: undefined,
  steps: [],
  variables: [],
  command: [],
  healthCheck: [],
});

/** @throws Error for an instruction that the tests do not know. */
function apply(line: Instruction, words: string[], stage: Stage): void {
  const [first = ''] = words;
  switch (line.getInstruction()) {
    case 'WORKDIR':
      stage.workdir = first;
      break;
    case 'USER':
      stage.user = first;
      break;
    case 'COPY':
      stage.steps.push({ copy: copyLine(line as Copy, words) });
      break;
    case 'RUN':
      stage.steps.push({ run: line.getArgumentsContent() ?? '' });
      break;
    case 'ENV':
      for (const one of (line as PropertyInstruction).getProperties())
        stage.variables.push([one.getName(), one.getValue() ?? '']);
      break;
    case 'CMD':
      stage.command = jsonWords(line);
      break;
    case 'HEALTHCHECK':
      stage.healthCheck = jsonWords(line);
      break;
    case 'FROM':
    case 'VOLUME':
    case 'EXPOSE':
    case 'STOPSIGNAL':
      break;
    default:
      throw new Error(`The tests do not know ${line.getInstruction()}.`);
  }
}

function copyLine(line: Copy, words: string[]): CopyLine {
  const from = line.getFromFlag()?.getValue() ?? undefined;
  return { from, sources: words.slice(0, -1), target: words.at(-1) ?? '' };
}

/** The words of the form `["node", "program"]`, which options and `CMD` may precede. */
function jsonWords(line: Instruction): string[] {
  const text = line.getArgumentsContent() ?? '';
  return JSON.parse(text.slice(text.indexOf('[')));
}

/** The variables of the image. */
export const imageVariables = () => readStages().at(-1)?.variables ?? [];
