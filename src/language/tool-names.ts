/** The parts of a tool's name `<group>.<tool>`. Only the name of the tool may contain points. */
export function partsOfToolName(name: string): { group: string; tool: string } {
  const point = name.indexOf('.');
  return { group: name.slice(0, point), tool: name.slice(point + 1) };
}
