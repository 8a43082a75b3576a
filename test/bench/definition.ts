import { BOUNDS } from '../../src/language/bounds.ts';
import { readDefinition } from '../../src/language/read.ts';

/** The largest size of a definition. */
const LARGEST = 256 * 1024;
const READS = 30;

/** Measures parsing the largest allowed definition: the first time in a process, and the median of further times. */
export function definitionLine(): string {
  const source = sourceOf(LARGEST);
  const times = Array.from({ length: READS }, () => {
    const start = performance.now();
    if (readDefinition(source).definition === null) throw new Error('The source has errors.');
    return performance.now() - start;
  });
  const [first = 0, ...others] = times;
  const median = others.sort((one, other) => one - other)[Math.floor(others.length / 2)] ?? 0;
  const size = Math.round(source.length / 1024);
  return `Reading a definition of ${size} KiB: ${first.toFixed(0)} ms the first time, then ${median.toFixed(0)} ms.`;
}

/** An agent with the maximum number of tools, whose descriptions fill a size in bytes. */
export function sourceOf(bytes: number): string {
  const head = 'agentlang 5\nagent "Large" {\n  prompt "You have many tools."\n  tools shop {\n';
  const tail = '  }\n}\n';
  const room = Math.floor((bytes - head.length - tail.length) / BOUNDS.capabilities);
  const capabilities = Array.from({ length: BOUNDS.capabilities }, (_, index) => {
    const text = (description: string) => `    capability find_${index} "${description}" {
      input {
        order_id string   "Order number, such as A-1042"
        expand   boolean? "Include the order's lines"
      }
      get "https://api.shop.example/orders/{{ input.order_id }}" {
        header  "Authorization" "Bearer {{ env.SHOP_KEY }}"
        timeout 5s
      }
    }
`;
    return text('Find one order. '.repeat(room).slice(0, room - text('').length));
  });
  return head + capabilities.join('') + tail;
}
