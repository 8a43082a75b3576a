import type { ReactNode } from 'react';
import { signedChange } from '../numbers.ts';
import { each } from '../parts/each.ts';
import '../parts/table.css';
import './fact-table.css';

/** A fact of two things that are compared. */
export type ComparedFact<Item> = {
  name: string;
  /** What both are compared by. */
  of(item: Item): unknown;
  show(item: Item): ReactNode;
  /** A number of which the difference shows. */
  number?(item: Item): number | null;
  unit?(value: number): string;
};

/** The facts of two things, and which of them differ. */
export function FactTable<Item>({
  label,
  facts,
  items,
  heads,
}: {
  label: string;
  facts: readonly ComparedFact<Item>[];
  items: readonly [one: Item, two: Item];
  /** The heads of both columns. */
  heads: readonly [one: ReactNode, two: ReactNode];
}) {
  return (
    <table className="table compared-facts" aria-label={label}>
      <thead>
        <tr>
          <th scope="col">
            <span className="unseen">Fact</span>
          </th>
          {each(heads, (head) => (
            <th scope="col">{head}</th>
          ))}
          <th scope="col">Difference</th>
        </tr>
      </thead>
      <tbody>
        {facts.map((fact) => (
          <FactRow key={fact.name} fact={fact} items={items} />
        ))}
      </tbody>
    </table>
  );
}

function FactRow<Item>({
  fact,
  items: [one, two],
}: {
  fact: ComparedFact<Item>;
  items: readonly [one: Item, two: Item];
}) {
  const { name, of, show } = fact;
  const isSame = JSON.stringify(of(one)) === JSON.stringify(of(two));
  return (
    <tr className={isSame ? undefined : 'compared-differs'}>
      <th scope="row">{name}</th>
      <td>{show(one)}</td>
      <td>{show(two)}</td>
      <td className="number">
        {isSame ? <span className="faint">same</span> : difference(fact, one, two)}
      </td>
    </tr>
  );
}

function difference<Item>({ number, unit }: ComparedFact<Item>, one: Item, two: Item): string {
  const [before, after] = [number?.(one), number?.(two)];
  if (before == null || after == null || !unit) return 'differs';
  const change = signedChange(before, after, unit);
  if (before === 0) return change;
  const percent = Math.round((Math.abs(after - before) / before) * 100);
  return `${change}, ${after > before ? '+' : '−'}${percent} %`;
}
