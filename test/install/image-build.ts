import { chmod, cp, mkdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import ignore from '@balena/dockerignore';
import { type CopyLine, readStages, type Stage } from '../helpers/dockerfile.ts';
import { ROOT, runLine } from './commands.ts';

/** The user `node` of the image. Source: the Dockerfile of the image `node`. */
export const IMAGE_USER = 1000;

/** The file system of the last stage, below a folder of this machine. */
export type BuiltImage = {
  stage: Stage;
  /** The path on this machine of a path of the image. */
  at(path: string): string;
};

/**
 * Does what `docker build` does, without Docker and in folders of this machine: copies what `.dockerignore` lets in, and
 * runs the commands of each stage. An absolute path of the image is one below the folder of its stage.
 */
export async function buildImage(folder: string): Promise<BuiltImage> {
  const stages = readStages();
  const names = stages.map((_stage, index) => join(folder, String(index)));
  for (const [index, stage] of stages.entries()) {
    const place = names[index] ?? '';
    await mkdir(join(place, stage.workdir), { recursive: true });
    for (const step of stage.steps) {
      if ('copy' in step) await copy(step.copy, join(place, stage.workdir), names[index - 1]);
      else
        await runLine(onThisMachine(step.run, place), {
          cwd: join(place, stage.workdir),
          env: BUILD,
        });
    }
  }
  const [stage, place = ''] = [stages.at(-1), names.at(-1)];
  if (!stage) throw new Error('The Dockerfile has no stage.');
  return { stage, at: (path) => join(place, path) };
}

/** A cache of its own, because the build deletes its cache. */
const BUILD = { npm_config_cache: join(ROOT, 'node_modules/.cache/image-npm') };

/** Replaces the absolute paths of a command, and the user that only the image has. */
function onThisMachine(command: string, place: string): string {
  return command
    .replaceAll(/(?<=^|\s)\/(?=\w)/g, `${place}/`)
    .replaceAll(/(?<=--(?:owner|group)=)node\b/g, String(IMAGE_USER));
}

/** One `COPY`. Source: the reference of the Dockerfile, "COPY". */
async function copy({ from, sources, target }: CopyLine, workdir: string, earlier?: string) {
  const allowed = from ? () => true : await contextFilter();
  for (const source of sources) {
    const path = from ? join(earlier ?? '', source) : join(ROOT, source);
    if (!allowed(path)) throw new Error(`.dockerignore keeps ${source} out of the build.`);
    const isFolder = (await stat(path)).isDirectory();
    const isInto = target.endsWith('/') && !isFolder;
    const place = join(workdir, target, isInto ? basename(source) : '');
    await mkdir(isFolder ? place : dirname(place), { recursive: true });
    await cp(path, place, { recursive: true, filter: allowed, verbatimSymlinks: true });
  }
}

/** Whether the build gets a file or a folder of this clone. */
async function contextFilter(): Promise<(path: string) => boolean> {
  const rules = ignore.default().add(await readFile(join(ROOT, '.dockerignore'), 'utf8'));
  return (path) => !rules.ignores(relative(ROOT, path));
}

/** Lets the user of the image reach a folder of the tests. */
export const openFolder = (folder: string) => chmod(folder, 0o755);
