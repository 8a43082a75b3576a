import { type Command, command } from '../line/definition.ts';
import { SHELLS } from '../line/shells.ts';

/** @param others the commands to complete. */
export function shell(others: readonly Command[]): Command[] {
  const completion: Command = command({
    name: 'completion',
    group: 'Shell',
    summary: 'Print a script that completes commands and options in a shell.',
    arguments: {
      shell: {
        placeholder: 'SHELL',
        required: true,
        choices: SHELLS,
        description: 'The shell: bash, zsh or fish.',
      },
    },
    examples: [
      { line: 'source <(parley completion bash)', description: 'Complete in this bash' },
      {
        line: 'parley completion fish > ~/.config/fish/completions/parley.fish',
        description: 'Complete in every new fish',
      },
    ],
    async run(input, { print }) {
      const { completionScript } = await import('../line/completion.ts');
      const name = input.choice('shell', SHELLS) ?? 'bash';
      const script = completionScript(name, [...others, completion]);
      await print({ shell: name, script }, () => script.trimEnd());
    },
  });
  return [completion];
}
