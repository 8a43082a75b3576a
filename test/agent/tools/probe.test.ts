import { expect, test } from 'vitest';
import { createToolProbe } from '../../../src/agent/tools/probe.ts';
import type { McpGroup } from '../../../src/language/definition.ts';
import { readDefinition } from '../../../src/language/read.ts';

test('a deploy probes at most 32 tool servers, for 5 seconds each, at the same time', async () => {
  const groups = Array.from(
    { length: 16 },
    (_, index) => `tools far${index} mcp "https://a.example/${index}"`,
  );
  const source = `agentlang 5\nagent "A" {\n  prompt "x"\n${groups.join('\n')}\n}\n`;
  const { definition } = readDefinition(source);
  const declared = (definition?.tools ?? []).filter((group): group is McpGroup => 'url' in group);
  expect(declared).toHaveLength(16);
  const limits: number[] = [];
  const released = Promise.withResolvers<void>();
  const probe = createToolProbe({
    servers: {
      async probe(_target, milliseconds) {
        limits.push(milliseconds);
        await released.promise;
        return { tools: [], leftOut: 0 };
      },
    },
  });
  const reports = probe([...declared, ...declared, ...declared], {});
  await expect.poll(() => limits.length).toBe(32);
  released.resolve();
  expect(await reports).toHaveLength(32);
  expect(new Set(limits)).toEqual(new Set([5_000]));
});
