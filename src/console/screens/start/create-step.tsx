import { useState } from 'react';
import { CreateBot } from '../../../generated/operations/console.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Refused } from '../../parts/state.tsx';
import { useMutate } from '../../server/operations.ts';
import { detailFor } from '../../server/problem.ts';
import { useNewBotRefusal } from '../../server/viewer.ts';
import { idFrom, useIdCheck } from './bot-id.ts';

/** Creates a bot. Its id follows from the name until it is typed. */
export function CreateStep({ onCreated }: { onCreated(id: string): void }) {
  const [name, setName] = useState('');
  const [typedId, setTypedId] = useState<string>();
  const id = typedId ?? idFrom(name);
  const check = useIdCheck(id);
  const refusal = useNewBotRefusal();
  const { isBusy, problem, run } = useMutate(CreateBot, ['Bot']);
  const submit = async () => {
    const { data } = await run({ input: { name, id: id || null } });
    if (data?.createBot) onCreated(data.createBot.id);
  };
  const isReady = name.trim() !== '' && check.state !== 'wrong';
  return (
    <form
      className="form step-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady && !refusal && !isBusy) void submit();
      }}
    >
      <TextField
        label="Name"
        placeholder="Order desk"
        autoFocus
        required
        maxLength={200}
        value={name}
        error={detailFor(problem, 'input.name')}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label="Id"
        isMono
        placeholder="made for you"
        value={id}
        error={check.state === 'wrong' ? check.reason : detailFor(problem, 'input.id')}
        hint={
          check.state === 'absent'
            ? `No bot has the id ${id}. It is part of the bot's URLs and cannot change later.`
            : "It is part of the bot's URLs and cannot change later."
        }
        onChange={({ target }) => setTypedId(target.value)}
      />
      {problem && problem.details.length === 0 && <Refused problem={problem} />}
      <div>
        <Button
          type="submit"
          look="primary"
          isBusy={isBusy}
          unavailable={refusal ?? (!isReady && 'Give the bot a name and a free id.')}
        >
          Create bot
        </Button>
      </div>
    </form>
  );
}
