import type { Reporter, TestModule } from 'vitest/node';

const COUNT = 20;

/** Prints the slowest tests of a run with their files, and the slowest files with the time of their hooks. */
export const slowestTests: Reporter = {
  onTestRunEnd(modules) {
    const tests = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => ({
        ms: test.diagnostic()?.duration ?? 0,
        name: `${nameOf(module)} > ${test.fullName}`,
      })),
    );
    print('tests', tests);
    const files = modules.map((module) => ({
      ms: module.diagnostic().duration,
      name: nameOf(module),
    }));
    print('files', files);
  },
};

const nameOf = ({ project, relativeModuleId }: TestModule) =>
  `[${project.name}] ${relativeModuleId}`;

function print(what: string, all: { ms: number; name: string }[]): void {
  const slowest = all.toSorted((one, other) => other.ms - one.ms).slice(0, COUNT);
  const lines = slowest.map(({ ms, name }) => `${(ms / 1_000).toFixed(1).padStart(6)} s  ${name}`);
  console.log(`\nThe slowest ${what}:\n${lines.join('\n')}`);
}
