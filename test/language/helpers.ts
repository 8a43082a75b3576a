import { formatDiagnostic } from '../../src/language/diagnostic.ts';
import { type ReadOptions, readDefinition } from '../../src/language/read.ts';

/** A correct agent with additional settings. */
export function agentWith(settings: string): string {
  return `agentlang 5\nagent "A" {\n  description "d"\n  prompt "p"\n${settings}\n}\n`;
}

/** The same with another prompt, as written in the source. */
export function agentWithPrompt(prompt: string, settings = ''): string {
  return `agentlang 5\nagent "A" {\n  description "d"\n  prompt ${prompt}\n${settings}\n}\n`;
}

/** The same with settings of its model. */
export function inModel(settings: string): string {
  return agentWith(`  model "m" {\n${settings}\n  }`);
}

/** The same with one capability. */
export function agentWithCapability(text: string): string {
  return agentWith(`  tools g {\n    capability c "d" {\n${text}\n    }\n  }`);
}

/** Numbered pieces from 0, joined. */
export function many(count: number, piece: (index: number) => string, between = ' '): string {
  return Array.from({ length: count }, (_, index) => piece(index)).join(between);
}

/** The definition in a source without errors. */
export function define(source: string) {
  const { definition, diagnostics } = readDefinition(source);
  if (!definition) throw new Error(diagnostics.map(formatDiagnostic).join('\n'));
  return definition;
}

/** The only capability of an agent with one. @param text the capability's members. */
export function capabilityOf(text: string) {
  const [group] = define(agentWithCapability(text)).tools;
  if (group?.type !== 'http') throw new Error('no HTTP group');
  const [capability] = group.capabilities;
  if (!capability) throw new Error('no capability');
  return capability;
}

/** The codes of a source's problems. */
export function codesOf(source: string, options?: ReadOptions): string[] {
  return readDefinition(source, options).diagnostics.map(({ code }) => code);
}

/** The problems of a source, one line each. */
export function problemsOf(source: string, options?: ReadOptions): string[] {
  return readDefinition(source, options).diagnostics.map(formatDiagnostic);
}
